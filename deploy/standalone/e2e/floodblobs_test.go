package e2e_test

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// largeSorts are requests whose text or files would be stored outside the history.
var largeSorts = []sort{
	{"long message", func(a *api, id string, n int) (reply, error) {
		return a.try("POST", "/conversations/"+id+"/messages", messageJSON(large(n)), "Prefer: respond-async")
	}},
	{"long message streamed", func(a *api, id string, n int) (reply, error) {
		return a.try("POST", "/conversations/"+id+"/messages", messageJSON(large(n)), "Accept: text/event-stream")
	}},
	{"a2a message with an image", func(a *api, id string, n int) (reply, error) {
		return a.raw("POST", "/a2a", a2aCall("message/send", fmt.Sprintf(
			`{"message":{"kind":"message","messageId":"m-%d","role":"user","taskId":%q,"parts":[{"kind":"text","text":%q},
			{"kind":"file","file":{"name":"i.png","mimeType":"image/png","bytes":%q}}]},"configuration":{"blocking":false}}`,
			n, id, large(n), base64.StdEncoding.EncodeToString([]byte("\x89PNG"+large(n))))))
	}},
}

func large(n int) string { return fmt.Sprint(n, strings.Repeat(" of many", 10_000)) }

// blobs returns the number of stored values in a data directory.
func (h *home) blobs() (n int) {
	h.t.Helper()
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "/blobs/") {
			n++
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestNothingThatIsRefusedIsStored(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	waiting := api.ask(`call note_add {"name":"x"}`).Conversation.ID
	closed := api.ask("hello").Conversation.ID
	api.want(200, "POST", "/conversations/"+closed+"/close", "")
	const missing = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"
	for name, id := range map[string]string{"waiting": waiting, "closed": closed, "missing": missing} {
		for _, s := range largeSorts {
			before := h.blobs()
			for n := range *floodSize {
				if _, err := s.send(api, id, n); err != nil {
					t.Error(err)
				}
			}
			if after := h.blobs(); after != before {
				t.Errorf("%s, %s: %d values were stored, then %d", name, s.name, before, after)
			}
		}
	}
}
