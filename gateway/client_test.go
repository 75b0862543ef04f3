package gateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/workflows/contract"
)

// wire carries requests to a gateway without a network, and can break connections.
type wire struct {
	handler http.Handler
	// cut returns after how many bytes of its reply the nth request is cut off, or -1.
	cut func(n int) int

	mu   sync.Mutex
	seen []*http.Request
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	n := len(w.seen)
	w.seen = append(w.seen, r)
	w.mu.Unlock()
	left := -1
	if w.cut != nil {
		left = w.cut(n)
	}
	if left == 0 {
		return nil, errors.New("the connection is reset")
	}
	body, end := io.Pipe()
	answer := &pipeWriter{header: http.Header{}, body: end, left: left, begun: make(chan struct{})}
	go func() {
		in := r.Clone(r.Context())
		in.Host, in.RequestURI = "localhost:8080", r.URL.RequestURI()
		if in.Body == nil {
			in.Body = http.NoBody
		}
		w.handler.ServeHTTP(answer, in)
		answer.WriteHeader(http.StatusOK)
		_ = end.Close()
	}()
	<-answer.begun
	return &http.Response{
		Status: fmt.Sprint(answer.status), StatusCode: answer.status, Header: answer.header.Clone(), Body: body, Request: r,
	}, nil
}

// pipeWriter writes a reply into a pipe.
type pipeWriter struct {
	header http.Header
	status int
	begun  chan struct{}
	body   *io.PipeWriter
	left   int
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		close(w.begun)
	}
}

func (w *pipeWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.left < 0 || len(data) < w.left {
		w.left = max(-1, w.left-len(data))
		return w.body.Write(data)
	}
	_, _ = w.body.Write(data[:w.left])
	_ = w.body.CloseWithError(io.ErrUnexpectedEOF)
	return 0, io.ErrClosedPipe
}

func (w *pipeWriter) Flush() {}

func newClient(t *testing.T, w *wire, o client.Options) *client.Client {
	t.Helper()
	o.HTTP = w
	c, err := client.New("http://localhost:8080/", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// watch returns what a reader of the events holds at the end.
func watch(t *testing.T, events func(func(client.Event, error) bool)) (transcript client.Transcript, last client.Event) {
	t.Helper()
	for e, err := range events {
		if err != nil {
			t.Fatalf("after %s: %v", last.Type, err)
		}
		transcript.Add(e)
		last = e
	}
	return transcript, last
}

func words(t client.Transcript) string {
	var out []string
	for _, e := range t.Entries {
		out = append(out, string(e.Kind)+" "+e.Tool+e.Text)
	}
	return strings.Join(out, "|")
}

func TestTheClientShowsATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.exists, s.onMessage = false, s.answer
		a := newAPI(t, s.backend())
		defer a.Close()
		w := &wire{handler: a}
		c := newClient(t, w, client.Options{Key: "secret"})
		got, last := watch(t, c.Send(t.Context(), "", client.NewMessage{Message: "hi"}))
		if words(got) != "user hi|text answer to hi" || last.Type != agui.TypeRunFinished || last.ThreadID != s.view.ID {
			t.Errorf("%q, %+v", words(got), last)
		}
		if got := w.seen[0].Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("the key is sent as %q", got)
		}
		if rest := got.LastTurn(); len(rest) != 1 || rest[0].Text != "answer to hi" {
			t.Errorf("%+v", rest)
		}
	})
}

// The connection breaks after any number of bytes, again and again, and the reader has
// everything once, from a message that was sent once.
func TestTheClientResumesALostStream(t *testing.T) {
	for bytes := range 1200 {
		synctest.Test(t, func(t *testing.T) {
			s := newScript()
			s.onMessage = func(m contract.MessageSignal) {
				s.begin(m)
				time.AfterFunc(time.Second, func() { s.do(func() { s.finish(m, "answer to hi") }) })
			}
			a := newAPI(t, s.backend())
			defer a.Close()
			w := &wire{handler: a, cut: func(n int) int {
				if n > 3 {
					return -1
				}
				return bytes
			}}
			got, last := watch(t, newClient(t, w, client.Options{}).Send(t.Context(), someID, client.NewMessage{Message: "hi"}))
			if words(got) != "user hi|text answer to hi" || !last.Ends() || len(s.sent) != 1 {
				t.Fatalf("cut after %d bytes: %q, %s, sent %d times over %d connections", bytes, words(got), last.Type, len(s.sent), len(w.seen))
			}
		})
	}
}

func TestTheClientFollowsToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("one")}) })
		a := newAPI(t, s.backend())
		defer a.Close()
		w := &wire{handler: a, cut: func(n int) int { return []int{900, -1, -1, -1}[min(n, 3)] }}
		time.AfterFunc(time.Minute, func() {
			s.do(func() { s.answer(contract.MessageSignal{Name: "m2", Text: contract.Inline("two")}) })
		})
		time.AfterFunc(2*time.Minute, func() { s.write(func(v *contract.ConversationView) { v.Status = contract.StatusCompleted }) })
		got, _ := watch(t, newClient(t, w, client.Options{}).Follow(t.Context(), someID, ""))
		if words(got) != "user one|text answer to one|user two|text answer to two" {
			t.Errorf("%q", words(got))
		}
	})
}

func TestTheClientDecidesAndReadsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		var asked contract.MessageSignal
		s.onMessage = func(m contract.MessageSignal) {
			asked = m
			s.begin(m)
			s.ask(m, contract.PendingApproval{UUID: someUUID, ToolName: "add", ToolArgs: addArgs, Reason: contract.ReasonDestructive})
		}
		s.onDecide = func(string, contract.DecideSignal) { s.finish(asked, "added") }
		a := newAPI(t, s.backend())
		defer a.Close()
		c := newClient(t, &wire{handler: a}, client.Options{})
		got, last := watch(t, c.Send(t.Context(), someID, client.NewMessage{Message: "add it"}))
		if last.Outcome.Type != agui.OutcomeInterrupt || len(last.Outcome.Interrupts) != 1 || last.Outcome.Interrupts[0].ID != someUUID {
			t.Fatalf("%s %+v", words(got), last.Outcome)
		}
		yes := true
		if err := c.Record(t.Context(), someUUID, client.Answer{Approved: &yes, By: "alice"}); err != nil {
			t.Fatal(err)
		}
		for e, err := range c.Rest(t.Context(), got.ConversationID, got.Position) {
			if err != nil {
				t.Fatal(err)
			}
			got.Add(e)
		}
		if want := `user add it|call add` + string(addArgs.Raw) + `|notice [APPROVAL]: Decided|text added`; words(got) != want {
			t.Error(words(got))
		}
		state, err := c.Approval(t.Context(), someUUID)
		if err != nil || state.Status != "approved" || !bytes.Equal(state.Approval.ToolArgs, addArgs.Raw) {
			t.Errorf("%+v %v", state, err)
		}
		_, _, err = c.Decide(t.Context(), someUUID, client.Answer{Approved: &yes})
		if client.StatusOf(err) != http.StatusConflict {
			t.Errorf("a second decision: %v", err)
		}
	})
}

func TestTheClientReturnsErrors(t *testing.T) {
	a := newAPI(t, newScript().backend())
	c := newClient(t, &wire{handler: a}, client.Options{})
	if _, err := c.Conversation(t.Context(), otherID); client.StatusOf(err) != 404 || err.Error() != "conversation not found: "+otherID {
		t.Errorf("%v", err)
	}
	for _, err := range c.Send(t.Context(), otherID, client.NewMessage{Message: "hi"}) {
		if client.StatusOf(err) != 404 {
			t.Errorf("%v", err)
		}
	}
	if ready, err := c.Ready(t.Context()); err != nil || ready.Status != "unavailable" || len(ready.Problems) == 0 {
		t.Errorf("%+v %v", ready, err)
	}
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://x", "http://"} {
		if _, err := client.New(address, client.Options{}); err == nil {
			t.Errorf("%q is accepted", address)
		}
	}
	nobody, err := client.New("http://127.0.0.1:1", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var unreachable *client.Unreachable
	if _, err := nobody.Offer(t.Context()); !errors.As(err, &unreachable) || strings.Contains(err.Error(), "Get ") {
		t.Errorf("%v", err)
	}
}

// The types of the client have the members that openapi.yaml names, no more and no fewer.
func TestTheClientKnowsEveryMember(t *testing.T) {
	doc, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		"Turn": client.Turn{}, "Conversation": client.Conversation{}, "ConversationMessage": client.Message{}, "Media": client.Media{},
		"Usage": client.Usage{}, "Identity": client.Identity{}, "Result": client.Result{}, "PendingApproval": client.Approval{},
		"Origin": client.Origin{}, "Binding": client.Binding{}, "Record": client.Decision{}, "Item": client.Item{},
		"ConversationList": client.Conversations{}, "ApprovalList": client.Approvals{}, "WaitingApproval": client.WaitingApproval{},
		"ApprovalState": client.ApprovalState{}, "Tool": client.Tool{}, "ToolApproval": client.ToolApproval{}, "Server": client.Server{},
		"Tools": client.Offer{}, "Ready": client.Readiness{}, "Message": client.NewMessage{}, "Command": client.Command{}, "CommandReply": client.CommandReply{},
	} {
		want := slices.Sorted(maps.Keys(doc.Components.Schemas[name].Value.Properties))
		var got []string
		for f := range reflect.TypeOf(v).NumField() {
			tag, _, _ := strings.Cut(reflect.TypeOf(v).Field(f).Tag.Get("json"), ",")
			got = append(got, tag)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has\n%v, openapi.yaml has\n%v", reflect.TypeOf(v), got, want)
		}
	}
}
