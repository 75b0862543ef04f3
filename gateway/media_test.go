package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func mediaPath(id, sum string) string { return "/conversations/" + id + "/media/" + sum }

// showingMedia returns a file that a tool of the conversation returned, with data in the
// store.
func showingMedia(a *api, id, mimeType, name, data string) contract.Blob {
	a.t.Helper()
	b, err := a.blobs.Put(context.Background(), []byte(data))
	if err != nil {
		a.t.Fatal(err)
	}
	b.Preview = ""
	view := viewOf(id)
	view.Transcript.Tail = []contract.Message{
		{ID: someUUID, Role: contract.RoleUser, Content: contract.Inline("hi"), CreatedAt: epoch},
		{ID: otherID, Role: contract.RoleTool, CreatedAt: epoch, ToolCall: &contract.ToolCall{
			Name: "t", Result: contract.Inline("{}"), Media: []contract.Media{{Blob: b, MIMEType: mimeType, Name: name}},
		}},
	}
	a.backend.ConversationFn = func(asked, _ string) (contract.ConversationView, error) {
		if asked == id {
			return view, nil
		}
		return viewOf(asked), nil
	}
	return b
}

func TestMediaIsServedWithASafeType(t *testing.T) {
	const sum = "2cf24dba5fb0"
	tests := []struct{ mimeType, name, kind, disposition string }{
		{"image/png", "chart.png", "image/png", ""},
		{"image/jpeg", "", "image/jpeg", ""},
		{"image/gif", "", "image/gif", ""},
		{"image/webp", "", "image/webp", ""},
		{"IMAGE/PNG", "", "IMAGE/PNG", ""},
		{"audio/wav", "", "audio/wav", ""},
		{"audio/L16; rate=44100", "", "audio/L16; rate=44100", ""},
		{"image/svg+xml", "a.svg", "image/svg+xml", "attachment; filename=a.svg"},
		{"text/html; charset=utf-8", "file:///tmp/my page.html", "text/html; charset=utf-8", `attachment; filename="my page.html"`},
		{"application/pdf", "", "application/pdf", "attachment; filename=" + sum},
		{"application/pdf", `..\..`, "application/pdf", "attachment; filename=" + sum},
		{"application/pdf", "naïve\r\nX: y", "application/pdf", "attachment; filename*=utf-8''na%C3%AFve%0D%0AX%3A%20y"},
		{"video/mp4", "http://x/", "video/mp4", "attachment; filename=x"},
		{"png", "/", "application/octet-stream", "attachment; filename=" + sum},
		{"audio/\r\nX: y", "a", "application/octet-stream", "attachment; filename=a"},
		{"", "", "application/octet-stream", "attachment; filename=" + sum},
	}
	a := newAPI(t, &fakeBackend{})
	server := httptest.NewServer(a)
	defer server.Close()
	for _, tt := range tests {
		b := showingMedia(a, someID, tt.mimeType, tt.name, "hello")
		a.want(200, a.do("GET", mediaPath(someID, b.SHA256), ""))
		for _, method := range []string{"GET", "HEAD"} {
			request, err := http.NewRequest(method, server.URL+mediaPath(someID, b.SHA256), nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if want := map[string]string{"GET": "hello", "HEAD": ""}[method]; err != nil || string(body) != want || res.StatusCode != 200 {
				t.Errorf("%s %q: %d %q, %v", method, tt.mimeType, res.StatusCode, body, err)
			}
			for name, want := range map[string]string{
				"Content-Type": tt.kind, "Content-Disposition": tt.disposition, "X-Content-Type-Options": "nosniff",
				"Content-Length": "5", "Content-Security-Policy": "default-src 'none'; sandbox", "X": "",
			} {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s %q: %s is %q, want %q", method, tt.mimeType, name, got, want)
				}
			}
		}
	}
}

func TestMediaOfOlderMessages(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	b := showingMedia(a, someID, "image/png", "", "hello")
	view, err := a.backend.ConversationFn(someID, "")
	if err != nil {
		t.Fatal(err)
	}
	folded, err := transcript.OffloadAll(t.Context(), a.blobs, view.Transcript)
	if err != nil {
		t.Fatal(err)
	}
	inside := contract.Transcript{Head: &folded.Head}
	view.Transcript = contract.Transcript{Tail: []contract.Message{{Segment: &contract.Segment{Run: "r", Transcript: &inside}}}}
	a.backend.ConversationFn = func(string, string) (contract.ConversationView, error) { return view, nil }
	if reply := a.want(200, a.do("GET", mediaPath(someID, b.SHA256), "")); reply.raw != "hello" {
		t.Error(reply.raw)
	}
}

func TestMediaIsPartOfItsConversation(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	b := showingMedia(a, someID, "image/png", "chart.png", "hello")
	reply := a.want(200, a.do("GET", "/conversations/"+someID, ""))
	if want := `"media":[{"mime_type":"image/png","size":5,"sha256":"` + b.SHA256 + `","name":"chart.png"}]`; !strings.Contains(reply.raw, want) {
		t.Errorf("no %s in %s", want, reply.raw)
	}
}

func TestMediaThatNoMessageOfTheConversationRefersTo(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	b := showingMedia(a, someID, "image/png", "", "hello")
	secret, _ := a.blobs.Put(t.Context(), []byte("another conversation's text"))
	for _, target := range []string{
		mediaPath(otherID, b.SHA256), mediaPath(someID, secret.SHA256), mediaPath(someID, strings.ToUpper(b.SHA256)), mediaPath(someID, b.SHA256[:63]),
		mediaPath(someID, "..%2f..%2fetc%2fpasswd"),
	} {
		a.wantError(404, "media not found: ", a.do("GET", target, ""))
		if reply := a.do("HEAD", target, ""); reply.status != 404 {
			t.Errorf("HEAD %s: %d", target, reply.status)
		}
	}
	a.wantError(404, "conversation not found: ", a.do("GET", mediaPath("nope", b.SHA256), ""))
	a.wantError(405, "not allowed", a.do("POST", mediaPath(someID, b.SHA256), ""))
	a.backend.ConversationFn = func(id, _ string) (contract.ConversationView, error) {
		return contract.ConversationView{}, service.Errorf(contract.KindNotFound, "conversation not found: %s", id)
	}
	a.wantError(404, "conversation not found: "+someID, a.do("GET", mediaPath(someID, b.SHA256), ""))
}

func TestMediaThatIsLost(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	b := showingMedia(a, someID, "image/png", "", "hello")
	delete(a.blobs.data, b.SHA256)
	reply := a.do("GET", mediaPath(someID, b.SHA256), "")
	a.wantError(500, "the stored value "+b.SHA256+" (5 bytes) is lost: it is not in the blob store", reply)
	if got := reply.header.Get("Cache-Control"); got != "" {
		t.Errorf("the error is kept: %s", got)
	}
}

func TestAConversationIsAFile(t *testing.T) {
	view := viewOf(someID)
	view.Title = &contract.Title{Text: "Fruit", At: epoch}
	a := newAPI(t, &fakeBackend{ConversationFn: func(string, string) (contract.ConversationView, error) { return view, nil }})
	for format, want := range map[string]struct{ name, kind, text string }{
		"":                 {".json", "application/json", "\n  \"title\": \"Fruit\""},
		"?format=json":     {".json", "application/json", "\n  \"title\": \"Fruit\""},
		"?format=markdown": {".md", "text/markdown; charset=utf-8", "# Fruit\n"},
	} {
		r := a.want(200, a.do("GET", "/conversations/"+someID+"/export"+format, ""))
		h := r.header
		if h.Get("Content-Disposition") != "attachment; filename=conversation_"+someID+want.name || h.Get("Content-Type") != want.kind ||
			h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(r.raw, want.text) {
			t.Errorf("%s: %v %s", format, h, r.raw)
		}
	}
	a.wantError(400, "format", a.do("GET", "/conversations/"+someID+"/export?format=pdf", ""))
}
