package gateway_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
)

func TestATitleIsSentWithWhoGivesIt(t *testing.T) {
	var m mailbox
	a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: answering("renamed"), ConversationFn: func(string, string) (contract.ConversationView, error) {
		view := viewOf(someID)
		view.Title = &contract.Title{Text: "Fruit", By: "me", OnBehalfOf: "you", At: epoch}
		return view, nil
	}})
	path := "/conversations/" + someID
	a.want(200, a.do("PATCH", path, `{"title":"  Fruit ","by":"me"}`))
	if got, ok := m.sent[0].payload.(title.Rename); !ok || m.sent[0].signal != "rename" || got.Title != "Fruit" || got.By != "me" || got.RequestID == "" {
		t.Errorf("%+v", m.sent[0])
	}
	r := a.want(200, a.do("GET", path, ""))
	if r.text("conversation", "title") != "Fruit" || r.text("conversation", "renamed", "on_behalf_of") != "you" {
		t.Error(r.raw)
	}
	for _, body := range []string{`{}`, `{"title":""}`, `{"title":" "}`, `{"title":"a\nb"}`, `{"title":"a\u202eb"}`, `{"title":"` + strings.Repeat("x", 81) + `"}`, `{"title":1}`, `{"name":"x"}`} {
		a.want(400, a.do("PATCH", path, body))
	}
	a.want(404, a.do("PATCH", "/conversations/none", `{"title":"x"}`))
	if len(m.sent) != 1 {
		t.Errorf("refused titles were sent: %+v", m.sent)
	}
}
