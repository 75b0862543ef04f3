package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
)

// canaryCore is part of every secret of the chaos, and of nothing else. Its encodings differ
// between the two base64 alphabets.
const canaryCore = "cAn4ry~?~?Zq9"

// canary returns the secret for a credential slot.
func canary(slot string) string { return canaryCore + "-" + slot + "-of-whom-nobody-may-read" }

// forms returns the encodings in which a far end echoes a secret.
func forms(secret string) []string {
	var percent, json strings.Builder
	for _, b := range []byte(secret) {
		fmt.Fprintf(&percent, "%%%02X", b)
		fmt.Fprintf(&json, `\u%04x`, b)
	}
	out := []string{
		secret, strings.ToUpper(secret), strings.ToLower(secret), backwards(secret), url.QueryEscape(secret), percent.String(), json.String(),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for _, before := range []string{"", "a", "ab"} {
		out = append(out, base64.StdEncoding.EncodeToString([]byte(before+secret)), base64.RawURLEncoding.EncodeToString([]byte(before+secret+".")))
	}
	return out
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// needle is an encoding of canaryCore, in lower case if the encoding ignores case.
type needle struct {
	what string
	text []byte
	fold bool
}

var needles = func() (out []needle) {
	for i, text := range []string{canaryCore, backwards(canaryCore), hex.EncodeToString([]byte(canaryCore)), url.QueryEscape(canaryCore)} {
		out = append(out, needle{[]string{"plain", "reversed", "hex", "query"}[i], []byte(strings.ToLower(text)), true})
	}
	var percent, escaped strings.Builder
	for _, b := range []byte(canaryCore) {
		fmt.Fprintf(&percent, "%%%02x", b)
		fmt.Fprintf(&escaped, `\u%04x`, b)
	}
	out = append(out, needle{"percent", []byte(percent.String()), true}, needle{"escaped", []byte(escaped.String()), true})
	for before := range 3 {
		whole := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), canaryCore...))
		core := whole[(8*before+5)/6 : 8*(before+len(canaryCore))/6]
		out = append(out, needle{"base64", []byte(core), false})
		if other := strings.NewReplacer("+", "-", "/", "_").Replace(core); other != core {
			out = append(out, needle{"base64 of URLs", []byte(other), false})
		}
	}
	return out
}()

// leak returns the part of data around a canary, or "".
func leak(data []byte) string {
	lower := lowered(data)
	for _, n := range needles {
		in := data
		if n.fold {
			in = lower
		}
		if at := bytes.Index(in, n.text); at >= 0 {
			return fmt.Sprintf("%s: …%q…", n.what, data[max(0, at-300):min(len(data), at+200)])
		}
	}
	return ""
}

// lowered returns data with ASCII letters in lower case and all other bytes unchanged.
func lowered(data []byte) []byte {
	out := bytes.Clone(data)
	for i, b := range out {
		if b >= 'A' && b <= 'Z' {
			out[i] = b + 'a' - 'A'
		}
	}
	return out
}

// aviary searches data for canaries.
type aviary struct {
	mu    sync.Mutex
	found map[string]string // by place, the first occurrence
	seen  int               // number of places
}

func (a *aviary) look(place string, data []byte) {
	found := leak(data)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen++
	if found != "" && a.found[place] == "" {
		if a.found == nil {
			a.found = map[string]string{}
		}
		a.found[place] = found
	}
}

// RoundTrip searches every reply of an API.
func (a *aviary) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	var headers bytes.Buffer
	_ = resp.Header.Write(&headers) // to memory
	a.look("reply to "+r.Method+" "+uuids.ReplaceAllString(r.URL.Path, "UUID"), append(headers.Bytes(), body...))
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// search searches everything readable that an agent leaves, except its YAML file: its author
// may write passwords and keys in URLs there.
func (a *aviary) search(t *testing.T, dir string, c client.Client) {
	t.Helper()
	for i, out := range outputsOf(t) {
		a.look(fmt.Sprintf("output of process %d", i), []byte(out.String()))
	}
	a.histories(t, c)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) == ".yaml" {
			return err
		}
		a.look("name of a file", []byte(path))
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		a.look("file "+blobNames.ReplaceAllString(uuids.ReplaceAllString(path, "UUID"), "BLOB"), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, found := range a.found {
		t.Errorf("a secret can be read in %s, %s", place, found)
	}
}

var blobNames = regexp.MustCompile(`[0-9a-f]{2}/[0-9a-f]{62}`)

// histories searches every workflow: its memo, its attributes and its events.
func (a *aviary) histories(t *testing.T, c client.Client) {
	t.Helper()
	var page []byte
	for {
		list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default", NextPageToken: page})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.GetExecutions() {
			a.message(t, "entry of a "+e.GetType().GetName(), e)
			id, run := e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId()
			events := c.GetWorkflowHistory(t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				event, err := events.Next()
				if err != nil {
					t.Fatal(err)
				}
				a.message(t, "history of a "+e.GetType().GetName()+", "+event.GetEventType().String(), event)
			}
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return
		}
	}
}

// message searches a message as it is sent, with its payloads as they are.
func (a *aviary) message(t *testing.T, place string, m proto.Message) {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	a.look(place, data)
}

// A canary is found in every encoding and at every place, but not in sealed data.
func TestCanariesAreFound(t *testing.T) {
	t.Parallel()
	for _, form := range forms(canary("somewhere")) {
		for _, text := range []string{form, "x" + form + "y", `{"a":"` + form + `"}`} {
			if leak([]byte(text)) == "" {
				t.Errorf("not found in %s", text)
			}
		}
	}
	if found := leak([]byte("[secret] and [bearer token]")); found != "" {
		t.Errorf("found %s", found)
	}
}
