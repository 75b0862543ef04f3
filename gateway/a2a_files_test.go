package gateway_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestFilesOfATaskInEveryVersion(t *testing.T) {
	s := taskScript()
	s.onMessage = func(m contract.MessageSignal) {
		s.begin(m)
		s.change(func(v *contract.ConversationView) {
			v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{ID: "t-1", Role: contract.RoleTool, ToolCall: &contract.ToolCall{
				Media: []contract.Media{{Blob: contract.Blob{SHA256: strings.Repeat("ab", 32)}, MIMEType: "text/plain", Name: "file:///output.txt"}},
				Links: []contract.Link{{URI: "demo://notes/7", Name: "Notes", MIMEType: "text/markdown"}},
			}})
		})
		s.end(m.RequestID, "made", contract.OutcomeDone)
	}
	a := newAPI(t, s.backend())
	id := a.rpc("SendMessage", said("m-1", "make files", nil)).text("result", "task", "id")
	for method, wants := range map[string][]string{
		"GetTask": {
			`"filename":"output.txt"`, `"url":"http://localhost:8080/conversations/` + id + `/media/abab`, `"agent-stop-and-go/uri":"file:///output.txt"`,
			`"url":"demo://notes/7"`, `"filename":"Notes"`, `"mediaType":"text/markdown"`,
		},
		"tasks/get": {
			`"name":"output.txt"`, `"uri":"http://localhost:8080/conversations/` + id + `/media/abab`, `"agent-stop-and-go/uri":"file:///output.txt"`,
			`"uri":"demo://notes/7"`, `"name":"Notes"`, `"mimeType":"text/markdown"`,
		},
	} {
		r := a.rpc(method, object{"id": id})
		for _, want := range wants {
			if !strings.Contains(r.raw, want) {
				t.Errorf("%s: no %s in %s", method, want, r.raw)
			}
		}
	}
}
