package stores_test

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// gcs speaks what the driver uses of the protocol of Google Cloud Storage.
func gcs(t *testing.T, o *objects) http.Handler {
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	describe := func(name string) map[string]any {
		data, at, _ := o.get(name)
		return map[string]any{
			"kind": "storage#object", "bucket": "agents", "name": name, "size": strconv.Itoa(len(data)), "generation": "1", "metageneration": "1", "etag": "1",
			"updated": at.Format(time.RFC3339Nano), "timeCreated": at.Format(time.RFC3339Nano), "contentType": "application/octet-stream",
		}
	}
	fail := func(w http.ResponseWriter, status int) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":"no"}}`, status)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		name, isObject := strings.CutPrefix(r.URL.Path, "/storage/v1/b/agents/o/")
		media, isMedia := strings.CutPrefix(r.URL.Path, "/agents/")
		switch {
		case strings.HasPrefix(r.URL.Path, "/upload/"):
			name, data, err := upload(r)
			if err != nil {
				t.Error(err)
			}
			if !o.put(name, data, q.Get("ifGenerationMatch") == "0") {
				fail(w, http.StatusPreconditionFailed)
				return
			}
			answer(w, describe(name))
		case isObject && q.Get("alt") != "media", isObject, isMedia:
			if isMedia {
				name = media
			}
			data, at, there := o.get(name)
			if !there {
				fail(w, http.StatusNotFound)
				return
			}
			if isObject && q.Get("alt") != "media" {
				answer(w, describe(name))
				return
			}
			w.Header().Set("x-goog-generation", "1")
			http.ServeContent(w, r, "", at, strings.NewReader(string(data)))
		default:
			var items []map[string]any
			for _, name := range o.below(q.Get("prefix")) {
				items = append(items, describe(name))
			}
			answer(w, map[string]any{"kind": "storage#objects", "items": items})
		}
	})
}

// upload reads an object that comes in one request, with its description before it.
func upload(r *http.Request) (name string, data []byte, err error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return "", nil, err
	}
	parts := multipart.NewReader(r.Body, params["boundary"])
	about, err := parts.NextPart()
	if err != nil {
		return "", nil, err
	}
	var described struct{ Name string }
	if err := json.NewDecoder(about).Decode(&described); err != nil {
		return "", nil, err
	}
	content, err := parts.NextPart()
	if err != nil {
		return "", nil, err
	}
	data, err = io.ReadAll(content)
	return described.Name, data, err
}

func TestProcessesShareAGoogleBucket(t *testing.T) {
	server := httptest.NewServer(gcs(t, newObjects()))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", u.Host)
	shared(t, "gs://agents")
}
