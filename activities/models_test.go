package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var long = strings.Repeat("long ", 2000)

func message(content string) contract.Message {
	return contract.Message{ID: "m1", Role: contract.RoleUser, Content: contract.Inline(content), CreatedAt: noon}
}

func question(content string) contract.GenerateInput {
	return contract.GenerateInput{
		ConversationID: conversationID, Model: "openai:gpt", Prompt: contract.Inline("Be brief."),
		Transcript: contract.Transcript{Tail: []contract.Message{message(content)}},
	}
}

func digest(t *testing.T, args string) string {
	t.Helper()
	sum, err := toolbox.Digest(json.RawMessage(args))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestTheModelIsAskedWithEverythingInPlace(t *testing.T) {
	store := newMemory()
	prompt, err := transcript.Text(t.Context(), store, long)
	if err != nil {
		t.Fatal(err)
	}
	content, err := transcript.Text(t.Context(), store, long)
	if err != nil {
		t.Fatal(err)
	}
	in := question("hi")
	in.Prompt, in.Transcript.Tail[0].Content = prompt, content

	var asked llm.Request
	m := &activities.Models{Blobs: store, Offer: fakeOffer{tools: []toolbox.Tool{tool("a", false), tool("b", true)}},
		Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
			asked = r
			return llm.Reply{Text: "ok"}, nil
		}}}
	if _, err := run(t, t.Context(), m.Generate, in); err != nil {
		t.Fatal(err)
	}
	want := llm.Request{
		Model: "openai:gpt", System: long, Messages: []contract.Message{message(long)},
		Tools: []contract.Tool{tool("a", false).Tool, tool("b", true).Tool},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestAReplyComesBackWithWhatIsKnownOfIt(t *testing.T) {
	store := newMemory()
	reply := llm.Reply{Text: long, Model: "gpt-4o", Usage: contract.Usage{InputTokens: 7}, Finish: llm.FinishStop}
	m := &activities.Models{Blobs: store, Offer: fakeOffer{}, Model: replies(reply, nil)}
	got, err := run(t, t.Context(), m.Generate, question("hi"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Text.Blob == nil || text(t, store, got.Text) != long {
		t.Errorf("a long reply is not in the store: %.80s", got.Text.Inline)
	}
	if got.Model != "gpt-4o" || got.Usage.InputTokens != 7 || got.Finish != llm.FinishStop || got.Offloaded != nil || got.Calls != nil {
		t.Errorf("got %+v", got)
	}
}

func TestACallComesBackFinal(t *testing.T) {
	keep := tool("keep", false)
	keep.Wording = contract.WordingResources
	offer := fakeOffer{
		tools: []toolbox.Tool{tool("list", false), tool("add", true), keep},
		CheckFn: func(name string, args json.RawMessage) (json.RawMessage, string) {
			switch string(args) {
			case `{"value":"42"}`:
				return json.RawMessage(`{"value":42}`), ""
			case `{"bad":1}`:
				return json.RawMessage(`{"never":"used"}`), name + ": bad is not allowed"
			}
			return args, ""
		},
	}
	tests := map[string]struct {
		call llm.Call
		want contract.Call
	}{
		"of a read-only tool": {
			llm.Call{ID: "1", Name: "list", Arguments: json.RawMessage(`{}`)},
			contract.Call{ID: "1", Name: "list", Server: "resources", SHA256: digest(t, `{}`), Arguments: raw(`{}`)},
		},
		"of a destructive tool with coerced arguments": {
			llm.Call{ID: "1", Name: "add", Arguments: json.RawMessage(`{"value":"42"}`)},
			contract.Call{ID: "1", Name: "add", Server: "resources", Destructive: true, SHA256: digest(t, `{"value":42}`), Arguments: raw(`{"value":42}`)},
		},
		"of a server that is ours": {
			llm.Call{ID: "1", Name: "keep", Arguments: json.RawMessage(`{}`)},
			contract.Call{ID: "1", Name: "keep", Server: "resources", Wording: contract.WordingResources, SHA256: digest(t, `{}`), Arguments: raw(`{}`)},
		},
		"with arguments that do not fit": {
			llm.Call{ID: "1", Name: "add", Arguments: json.RawMessage(`{"bad":1}`)},
			contract.Call{ID: "1", Name: "add", Server: "resources", Destructive: true, Problem: "add: bad is not allowed",
				SHA256: digest(t, `{"bad":1}`), Arguments: raw(`{"bad":1}`)},
		},
		"of an unknown tool": {
			llm.Call{ID: "1", Name: "nope", Arguments: json.RawMessage(`{"bad":1}`)},
			contract.Call{ID: "1", Name: "nope", Unknown: true, SHA256: digest(t, `{"bad":1}`), Arguments: raw(`{"bad":1}`)},
		},
		"that the model garbled": {
			llm.Call{ID: "1", Name: "add", Arguments: json.RawMessage(`{}`), Problem: "the reply was cut off"},
			contract.Call{ID: "1", Name: "add", Server: "resources", Destructive: true, Problem: "the reply was cut off",
				SHA256: digest(t, `{}`), Arguments: raw(`{}`)},
		},
		"that the model garbled beyond JSON": {
			llm.Call{ID: "1", Name: "add", Arguments: json.RawMessage(`{"a`), Problem: "the reply was cut off"},
			contract.Call{ID: "1", Name: "add", Server: "resources", Destructive: true, Problem: "the reply was cut off", Arguments: raw(`{}`)},
		},
		"with arguments that are no object": {
			llm.Call{ID: "1", Name: "add", Arguments: json.RawMessage(`[1]`)},
			contract.Call{ID: "1", Name: "add", Server: "resources", Destructive: true, Problem: "The arguments are not a JSON object.", Arguments: raw(`{}`)},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := &activities.Models{Blobs: newMemory(), Offer: offer, Model: replies(llm.Reply{Calls: []llm.Call{tt.call}}, nil)}
			got, err := run(t, t.Context(), m.Generate, question("hi"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]contract.Call{tt.want}, got.Calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func raw(s string) contract.JSON { return contract.JSON{Raw: json.RawMessage(s)} }

func TestLongArgumentsLiveInTheStore(t *testing.T) {
	store := newMemory()
	args := `{"text":"` + long + `"}`
	m := &activities.Models{Blobs: store, Offer: fakeOffer{tools: []toolbox.Tool{tool("add", true)}},
		Model: replies(llm.Reply{Calls: []llm.Call{{ID: "1", Name: "add", Arguments: json.RawMessage(args)}}}, nil)}
	got, err := run(t, t.Context(), m.Generate, question("hi"))
	if err != nil {
		t.Fatal(err)
	}
	c := got.Calls[0]
	if c.Arguments.Blob == nil || string(store.values[c.Arguments.Blob.SHA256]) != args || c.SHA256 != digest(t, args) {
		t.Errorf("got %+v", c)
	}
}

func TestALongTailIsFolded(t *testing.T) {
	store := newMemory()
	m := &activities.Models{Blobs: store, Offer: fakeOffer{}, Model: replies(llm.Reply{Text: "ok"}, nil)}
	in := question(long)
	got, err := run(t, t.Context(), m.Generate, in)
	if err != nil || got.Offloaded == nil || got.Offloaded.Count != 1 {
		t.Fatalf("folded %+v, %v", got.Offloaded, err)
	}
	messages, err := transcript.Load(t.Context(), store, contract.Transcript{Head: &got.Offloaded.Head})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Transcript.Tail, messages); diff != "" {
		t.Errorf("folded messages (-want +got):\n%s", diff)
	}
}

func TestAFailureOfTheModelKeepsItsKind(t *testing.T) {
	tests := []struct {
		kind    contract.Kind
		retried bool
	}{
		{contract.KindModelAuth, false}, {contract.KindModelRequest, false}, {contract.KindModelContext, false},
		{contract.KindModelRateLimited, true}, {contract.KindModelUnavailable, true}, {contract.KindModelGarbage, true},
	}
	for _, tt := range tests {
		m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: replies(llm.Reply{}, &llm.Error{Kind: tt.kind, Message: "one sentence"})}
		_, err := run(t, t.Context(), m.Generate, question("hi"))
		if app := failedAs(t, err, tt.kind, tt.retried); app.Message() != "one sentence" || app.NextRetryDelay() != 0 {
			t.Errorf("%s: message %q, next attempt in %s", tt.kind, app.Message(), app.NextRetryDelay())
		}
	}
}

func TestAnyOtherFailureIsOurs(t *testing.T) {
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: replies(llm.Reply{}, errors.New("surprise"))}
	_, err := run(t, t.Context(), m.Generate, question("hi"))
	failedAs(t, err, contract.KindInternal, true)
}

func TestAProvidersPauseIsKept(t *testing.T) {
	tests := map[time.Duration]struct {
		retried bool
		delay   time.Duration
		message string
	}{
		0:                             {true, 0, "busy"},
		30 * time.Second:              {true, 30 * time.Second, "busy"},
		2 * time.Minute:               {true, 2 * time.Minute, "busy"},
		2*time.Minute + 1:             {false, 0, "busy (to be tried again in 2m0s)"},
		6*time.Hour + time.Nanosecond: {false, 0, "busy (to be tried again in 6h0m0s)"},
	}
	for after, tt := range tests {
		m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{},
			Model: replies(llm.Reply{}, &llm.Error{Kind: contract.KindModelRateLimited, Message: "busy", RetryAfter: after})}
		_, err := run(t, t.Context(), m.Generate, question("hi"))
		app := failedAs(t, err, contract.KindModelRateLimited, tt.retried)
		if app.NextRetryDelay() != tt.delay || app.Message() != tt.message {
			t.Errorf("pause of %s: next attempt in %s, %q", after, app.NextRetryDelay(), app.Message())
		}
	}
}

func TestACancelledModelCallIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{},
		Model: fakeModel{func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			cancel()
			<-ctx.Done()
			return llm.Reply{}, &llm.Error{Kind: contract.KindModelUnavailable, Message: "cancelled", Err: ctx.Err()}
		}}}
	if _, err := m.Generate(ctx, question("hi")); err != context.Canceled {
		t.Errorf("got %#v", err)
	}
}

func TestATimeoutOfTheModelIsAFailureAndNoCancellation(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), noon)
	defer cancel()
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{},
		Model: replies(llm.Reply{}, &llm.Error{Kind: contract.KindModelUnavailable, Message: "too slow", Err: context.DeadlineExceeded})}
	_, err := m.Generate(ctx, question("hi"))
	failedAs(t, err, contract.KindModelUnavailable, true)
}

func TestAStoreThatIsAwayFailsTheModelCall(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	full := newMemory()
	full.putErr = errStore
	reading := question("hi")
	reading.Prompt = contract.Text{Blob: &lost}
	segment := question("hi")
	segment.Transcript.Head = &contract.Head{Blob: lost, Count: 1}
	body := question("hi")
	body.Transcript.Tail[0].Content = contract.Text{Blob: &lost}
	bigArgs := llm.Reply{Calls: []llm.Call{{Name: "x", Arguments: json.RawMessage(`{"a":"` + long + `"}`)}}}
	tests := map[string]struct {
		store *memory
		in    contract.GenerateInput
		reply llm.Reply
	}{
		"reading the prompt":    {newMemory(), reading, llm.Reply{Text: "ok"}},
		"reading a segment":     {newMemory(), segment, llm.Reply{Text: "ok"}},
		"reading a message":     {newMemory(), body, llm.Reply{Text: "ok"}},
		"writing a reply":       {full, question("hi"), llm.Reply{Text: long}},
		"writing the arguments": {full, question("hi"), bigArgs},
		"folding":               {full, question(long), llm.Reply{Text: "ok"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := &activities.Models{Blobs: tt.store, Offer: fakeOffer{}, Model: replies(tt.reply, nil)}
			_, err := run(t, t.Context(), m.Generate, tt.in)
			failedAs(t, err, contract.KindBlob, true)
		})
	}
}

func TestAFailureIsTheOutermostError(t *testing.T) {
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: replies(llm.Reply{}, &llm.Error{Kind: contract.KindModelAuth})}
	_, err := m.Generate(t.Context(), question("hi"))
	if _, ok := err.(*temporal.ApplicationError); !ok {
		t.Errorf("an activity returned %T, which Temporal would try again", err)
	}
}

func TestGenerateOffersWhatTheCallersTokenIsShown(t *testing.T) {
	keys := ring(t, "k1")
	box := toolbox.New(toolbox.Options{Servers: []toolbox.Server{{Name: "web", URL: lockedServer(t)}}, Logger: slog.New(slog.DiscardHandler)})
	defer box.Close()
	for sealed, want := range map[string]int{
		"": 0, sealWith(t, keys, conversationID, credential.Token{Bearer: canary, ExpiresAt: noon.Add(1)}): 1,
	} {
		m := &activities.Models{
			Blobs: newMemory(), Keyring: keys, Now: func() time.Time { return noon }, Offer: box,
			Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
				if len(r.Tools) != want {
					t.Errorf("got %v, want %d", r.Tools, want)
				}
				return llm.Reply{Calls: []llm.Call{{ID: "1", Name: "touch", Arguments: []byte(`{"n":"1"}`)}}}, nil
			}},
		}
		ctx := t.Context()
		if sealed != "" {
			ctx = credential.NewContext(ctx, sealed)
		}
		got, err := m.Generate(ctx, contract.GenerateInput{ConversationID: conversationID})
		if err != nil || got.Calls[0].Unknown == (want == 1) || got.Calls[0].Problem != "" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

// lockedServer starts a server that requires the canary as a token.
func lockedServer(t *testing.T) string {
	t.Helper()
	m := server.NewMCPServer("locked", "1")
	m.AddTool(mcp.NewTool("touch", mcp.WithNumber("n")), nil)
	inner := server.NewStreamableHTTPServer(m)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
