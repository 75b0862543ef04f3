package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

func ring(t *testing.T, id string) *credential.Keyring {
	t.Helper()
	r, err := credential.NewKeyring(credential.Key{ID: id, Secret: []byte(strings.Repeat(id[:1], credential.KeySize))})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tools(t *testing.T, call func(context.Context, toolbox.Call) (toolbox.Result, error)) *activities.Tools {
	return &activities.Tools{
		Caller: fakeCaller{CallFn: call}, Blobs: newMemory(), Keyring: ring(t, "k1"), Now: func() time.Time { return noon },
	}
}

func calling(t *testing.T, args string, destructive bool) contract.CallToolInput {
	return contract.CallToolInput{
		ConversationID: conversationID, SessionID: "s-1", Server: "resources", Tool: "add", Arguments: raw(args),
		SHA256: digest(t, args), IdempotencyKey: "key-1", Destructive: destructive,
	}
}

func answering(r toolbox.Result, err error) func(context.Context, toolbox.Call) (toolbox.Result, error) {
	return func(context.Context, toolbox.Call) (toolbox.Result, error) { return r, err }
}

func never(t *testing.T) func(context.Context, toolbox.Call) (toolbox.Result, error) {
	return func(context.Context, toolbox.Call) (toolbox.Result, error) {
		t.Error("the tool was called")
		return toolbox.Result{}, nil
	}
}

func TestAToolIsCalledAsItWasShown(t *testing.T) {
	var got toolbox.Call
	a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
		got = c
		return toolbox.Result{Text: "added"}, nil
	})
	r, err := run(t, t.Context(), a.CallTool, calling(t, `{"name":"web-1"}`, true))
	if err != nil {
		t.Fatal(err)
	}
	want := toolbox.Call{
		Server: "resources", Tool: "add", Arguments: json.RawMessage(`{"name":"web-1"}`), SessionID: "s-1",
		IdempotencyKey: "key-1", Destructive: true,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(toolbox.Call{}, "Progress")); diff != "" {
		t.Errorf("call (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(contract.CallToolResult{Text: contract.Inline("added")}, r); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestOtherArgumentsThanThoseShownAreRefused(t *testing.T) {
	tests := map[string]func(*contract.CallToolInput){
		"changed arguments": func(in *contract.CallToolInput) { in.Arguments = raw(`{"name":"web-2"}`) },
		"changed digest":    func(in *contract.CallToolInput) { in.SHA256 = strings.Repeat("0", 64) },
		"no digest":         func(in *contract.CallToolInput) { in.SHA256 = "" },
		"no arguments":      func(in *contract.CallToolInput) { in.Arguments = contract.JSON{} },
		"no object":         func(in *contract.CallToolInput) { in.Arguments = raw(`[1]`); in.SHA256 = contract.Hash([]byte(`[1]`)) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			in := calling(t, `{"name":"web-1"}`, true)
			change(&in)
			_, err := run(t, t.Context(), tools(t, never(t)).CallTool, in)
			failedAs(t, err, contract.KindDigest, false)
		})
	}
}

func TestArgumentsWrittenInAnotherWayAreTheSame(t *testing.T) {
	in := calling(t, `{"a":1,"b":"<x>"}`, true)
	in.Arguments = raw(` { "b":"\u003cx\u003e", "a":1 } `)
	if _, err := run(t, t.Context(), tools(t, answering(toolbox.Result{}, nil)).CallTool, in); err != nil {
		t.Error(err)
	}
}

func TestArgumentsAreReadFromTheStore(t *testing.T) {
	args := `{"text":"` + long + `"}`
	var got json.RawMessage
	a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
		got = c.Arguments
		return toolbox.Result{}, nil
	})
	in := calling(t, args, false)
	var err error
	if in.Arguments, err = transcript.JSON(t.Context(), a.Blobs, json.RawMessage(args)); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, t.Context(), a.CallTool, in); err != nil || string(got) != args {
		t.Errorf("called with %.60s, %v", got, err)
	}
}

// A destructive call whose arguments cannot be read was not sent: it is made again later, like one whose server does not
// answer.
func TestArgumentsThatAreLostAreAFailureBeforeTheCall(t *testing.T) {
	for destructive, kind := range map[bool]contract.Kind{false: contract.KindBlob, true: contract.KindToolUnavailable} {
		in := calling(t, `{}`, destructive)
		lost := contract.NewBlob([]byte("never stored"))
		in.Arguments = contract.JSON{Blob: &lost}
		_, err := run(t, t.Context(), tools(t, never(t)).CallTool, in)
		failedAs(t, err, kind, true)
	}
}

func TestALongResultLivesInTheStore(t *testing.T) {
	a := tools(t, answering(toolbox.Result{Text: long, IsError: true, AuthRequired: "resources"}, nil))
	got, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, false))
	if err != nil || got.Text.Blob == nil || text(t, a.Blobs.(*memory), got.Text) != long {
		t.Fatalf("result %.60s, %v", got.Text.Inline, err)
	}
	if !got.IsError || got.AuthRequired != "resources" {
		t.Errorf("got %+v", got)
	}
}

func TestTheCallersTokenIsForwarded(t *testing.T) {
	var bearer string
	a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
		bearer = c.Bearer
		return toolbox.Result{Text: "ok"}, nil
	})
	sealed := sealWith(t, a.Keyring, conversationID, credential.Token{Bearer: canary, ExpiresAt: noon.Add(1)})
	got, err := run(t, credential.NewContext(t.Context(), sealed), a.CallTool, calling(t, `{}`, true))
	if err != nil || bearer != canary || got.Note != "" {
		t.Errorf("token forwarded: %t, note %q, %v", bearer == canary, got.Note, err)
	}
}

func sealWith(t *testing.T, r *credential.Keyring, id string, token credential.Token) string {
	t.Helper()
	sealed, err := r.Seal(id, token)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestATokenThatCannotBeOpenedMeansACallWithoutOneAndANote(t *testing.T) {
	here, elsewhere := ring(t, "k1"), ring(t, "z9")
	tests := map[string]struct{ sealed, why string }{
		"expired":                 {sealWith(t, here, conversationID, credential.Token{Bearer: canary, ExpiresAt: noon}), "has expired"},
		"unknown key":             {sealWith(t, elsewhere, conversationID, credential.Token{Bearer: canary}), "sealed with a key that is not configured here"},
		"of another conversation": {sealWith(t, here, "another", credential.Token{Bearer: canary}), "cannot be opened for this conversation"},
		"garbage":                 {canary, "cannot be opened for this conversation"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
				if c.Bearer != "" {
					t.Error("a token was forwarded")
				}
				return toolbox.Result{Text: "ok"}, nil
			})
			got, err := run(t, credential.NewContext(t.Context(), tt.sealed), a.CallTool, calling(t, `{}`, false))
			want := "Called without authorization: the caller's token " + tt.why + "."
			if err != nil || got.Note != want || got.Text.Inline != "ok" {
				t.Errorf("note %q, %v; expected %q", got.Note, err, want)
			}
		})
	}
}

func TestAFailedCallKeepsItsKind(t *testing.T) {
	tests := map[contract.Kind]bool{
		contract.KindToolUnavailable: true, contract.KindToolFailed: false, contract.KindOutcomeUnknown: false, contract.KindInvalid: false,
	}
	for kind, retried := range tests {
		for _, destructive := range []bool{true, false} {
			broken := &toolbox.Error{Kind: kind, Server: "resources", Tool: "add", Err: errors.New("broken")}
			_, err := run(t, t.Context(), tools(t, answering(toolbox.Result{}, broken)).CallTool, calling(t, `{}`, destructive))
			if app := failedAs(t, err, kind, retried); !strings.Contains(app.Message(), "broken") {
				t.Errorf("%s: message %q", kind, app.Message())
			}
		}
	}
}

// After the call, an uncertain outcome must not lead to a second call.
func TestWhatGoesWrongAfterADestructiveCallHasAnUnknownOutcome(t *testing.T) {
	surprise := answering(toolbox.Result{}, errors.New("surprise"))
	tests := map[string]struct {
		call        func(context.Context, toolbox.Call) (toolbox.Result, error)
		destructive bool
		kind        contract.Kind
		retried     bool
	}{
		"a destructive result that is not stored": {answering(toolbox.Result{Text: long}, nil), true, contract.KindOutcomeUnknown, false},
		"a read-only result that is not stored":   {answering(toolbox.Result{Text: long}, nil), false, contract.KindBlob, true},
		"an unknown failure, destructive":         {surprise, true, contract.KindOutcomeUnknown, false},
		"an unknown failure, read-only":           {surprise, false, contract.KindInternal, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := tools(t, tt.call)
			a.Blobs.(*memory).putErr = errStore
			_, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, tt.destructive))
			failedAs(t, err, tt.kind, tt.retried)
		})
	}
}

func TestACancelledReadOnlyCallIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := tools(t, cancelling(cancel, contract.KindToolUnavailable))
	if _, err := a.CallTool(ctx, calling(t, `{}`, false)); err != context.Canceled {
		t.Errorf("got %#v", err)
	}
}

func TestACancelledDestructiveCallTellsWhatBecameOfIt(t *testing.T) {
	for kind, retried := range map[contract.Kind]bool{contract.KindOutcomeUnknown: false, contract.KindToolUnavailable: true} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := tools(t, cancelling(cancel, kind)).CallTool(ctx, calling(t, `{}`, true))
		failedAs(t, err, kind, retried)
	}
}

func cancelling(cancel func(), kind contract.Kind) func(context.Context, toolbox.Call) (toolbox.Result, error) {
	return func(ctx context.Context, _ toolbox.Call) (toolbox.Result, error) {
		cancel()
		<-ctx.Done()
		return toolbox.Result{}, &toolbox.Error{Kind: kind, Err: ctx.Err()}
	}
}
