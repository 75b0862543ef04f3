package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/transcript"
)

// echo is a front end: it starts a conversation with the text of each POST, and replies with
// what the agent says.
type echo struct{ service *service.Service }

func (e echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		http.Error(w, "the text cannot be read", http.StatusBadRequest)
		return
	}
	caller := service.Caller{Session: "echo", Subject: r.Header.Get("X-User")}
	reply, err := e.ask(r.Context(), caller, r.Header.Get("Idempotency-Key"), string(text))
	if err != nil {
		fail(w, err)
		return
	}
	fmt.Fprintln(w, reply)
}

// ask sends a text and returns what the agent says. A text that is repeated under its key is
// sent once.
func (e echo) ask(ctx context.Context, caller service.Caller, key, text string) (string, error) {
	id, err := e.service.NewID(ctx, caller, key)
	if err != nil {
		return "", err
	}
	request := service.Request{ConversationID: id, ID: caller.RequestID(id, "echo", key), Repeatable: key != ""}
	message := service.Message{Text: text}
	if _, err := e.service.Start(ctx, caller, service.NewConversation{Request: request, Message: &message}); err != nil {
		return "", err
	}
	settled, err := e.service.Await(ctx, request)
	if err == nil {
		err = settled.Refusal()
	}
	if err != nil {
		return "", err
	}
	conversation, err := e.service.Record(ctx, settled.View)
	if err != nil {
		return "", err
	}
	return textOf(conversation.Entries()), nil
}

// textOf returns what the agent says and waits for.
func textOf(entries []record.Entry) string {
	var lines []string
	for _, e := range entries {
		switch e.Kind {
		case record.KindText:
			lines = append(lines, e.Text)
		case record.KindRequest:
			lines = append(lines, "Waiting for approval: "+e.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// fail shows only errors for callers.
func fail(w http.ResponseWriter, err error) {
	var known *service.Error
	if errors.As(err, &known) {
		http.Error(w, known.Text, http.StatusConflict)
		return
	}
	http.Error(w, service.InternalText, http.StatusInternalServerError)
}

// A front end needs a Service and the record, and no other package of the gateway.
func Example_frontEnd() {
	conversations := service.New(service.Options{Backend: &parrot{}, Blobs: noBlobs{}})
	defer conversations.Close()
	server := httptest.NewServer(echo{conversations})
	defer server.Close()

	response, err := http.Post(server.URL, "text/plain", strings.NewReader("Good morning"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(response.Body)
	fmt.Print(string(reply), err)
	// Output:
	// You said: Good morning
	// <nil>
}

// parrot is a Backend with a single conversation, which repeats what the user says.
type parrot struct {
	service.Backend
	text contract.Text
}

func (p *parrot) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	p.text = in.Conversation.First.Text
	return service.StartResult{}, nil
}

func (p *parrot) Await(_ context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	messages := []contract.Message{
		{ID: "1", Role: contract.RoleUser, Content: p.text},
		{ID: "2", Role: contract.RoleAssistant, Content: contract.Inline("You said: " + p.text.Short())},
	}
	return contract.AwaitResult{
		Settled:      []contract.Request{{ID: requestIDs[0], Settled: true}},
		Conversation: contract.ConversationView{ID: id, Status: contract.StatusActive, Transcript: contract.Transcript{Tail: messages}},
	}, nil
}

// noBlobs is the blob store of short conversations.
type noBlobs struct{ transcript.Store }
