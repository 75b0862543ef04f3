package stores_test

import (
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// objects are what a fake of a store keeps.
type objects struct {
	mu    sync.Mutex
	all   map[string][]byte
	times map[string]time.Time
}

func newObjects() *objects {
	return &objects{all: map[string][]byte{}, times: map[string]time.Time{}}
}

// put stores an object, unless it may only be a new one and is not.
func (o *objects) put(name string, data []byte, onlyNew bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, there := o.all[name]; there && onlyNew {
		return false
	}
	o.all[name], o.times[name] = data, time.Now().UTC()
	return true
}

func (o *objects) get(name string) (data []byte, at time.Time, there bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	data, there = o.all[name]
	return data, o.times[name], there
}

func (o *objects) below(prefix string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(o.all)), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// azure speaks what the driver uses of the protocol of Azure's blobs. There is no emulator in Go.
func azure(o *objects) http.Handler {
	fail := func(w http.ResponseWriter, status int, code string) {
		w.Header().Set("x-ms-error-code", code)
		w.WriteHeader(status)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, inContainer := strings.CutPrefix(r.URL.Path, "/account/agents/")
		if !strings.HasPrefix(r.Header.Get("Authorization"), "SharedKey account:") {
			fail(w, http.StatusForbidden, "AuthenticationFailed")
			return
		}
		switch {
		case !inContainer && r.URL.Query().Get("comp") == "list":
			listAzure(w, o, r.URL.Query().Get("prefix"))
		case r.Method == http.MethodPut:
			data, err := io.ReadAll(r.Body)
			if err != nil || !o.put(name, data, r.Header.Get("If-None-Match") == "*") {
				fail(w, http.StatusConflict, "BlobAlreadyExists")
				return
			}
			w.Header().Set("ETag", `"1"`)
			w.WriteHeader(http.StatusCreated)
		default:
			data, at, there := o.get(name)
			if !there {
				fail(w, http.StatusNotFound, "BlobNotFound")
				return
			}
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("x-ms-blob-type", "BlockBlob")
			w.Header().Set("x-ms-creation-time", at.Format(http.TimeFormat))
			http.ServeContent(w, r, "", at, strings.NewReader(string(data)))
		}
	})
}

func listAzure(w http.ResponseWriter, o *objects, prefix string) {
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="agents"><Blobs>`)
	for _, name := range o.below(prefix) {
		data, at, _ := o.get(name)
		fmt.Fprint(w, "<Blob><Name>")
		_ = xml.EscapeText(w, []byte(name))
		fmt.Fprintf(w, "</Name><Properties><Last-Modified>%s</Last-Modified><Etag>1</Etag><Content-Length>%d</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>",
			at.Format(http.TimeFormat), len(data))
	}
	fmt.Fprint(w, "</Blobs><NextMarker/></EnumerationResults>")
}

func TestProcessesShareAnAzureContainer(t *testing.T) {
	server := httptest.NewServer(azure(newObjects()))
	t.Cleanup(server.Close)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte(secretKey)))
	shared(t, "azblob://agents?protocol=http&domain="+strings.TrimPrefix(server.URL, "http://"))
}
