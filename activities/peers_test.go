package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

type sending func(context.Context, peer.Message) (peer.Reply, error)

func peers(t *testing.T, send sending) *activities.Peers {
	return &activities.Peers{
		Peer: fakePeer{send}, Blobs: newMemory(), Keyring: ring(t, "k1"), Now: func() time.Time { return noon },
	}
}

func saying(r peer.Reply, err error) sending {
	return func(context.Context, peer.Message) (peer.Reply, error) { return r, err }
}

// recordAndComplete records the sent message and completes its task.
func recordAndComplete(sent *peer.Message) sending {
	return func(_ context.Context, m peer.Message) (peer.Reply, error) {
		*sent = m
		return peer.Reply{State: contract.TaskCompleted}, nil
	}
}

func unsent(t *testing.T) sending {
	return func(context.Context, peer.Message) (peer.Reply, error) {
		t.Error("a message was sent")
		return peer.Reply{}, nil
	}
}

func delegating(t *testing.T, args string) contract.DelegateInput {
	return contract.DelegateInput{
		ConversationID: conversationID, SessionID: "s-1", Peer: risky, MessageID: "m-1", Arguments: raw(args), SHA256: digest(t, args),
	}
}

func deciding(d contract.Decision) contract.DelegateInput {
	return contract.DelegateInput{ConversationID: conversationID, SessionID: "s-1", Peer: risky, MessageID: "m-2", TaskID: "t-1", Decision: d}
}

func TestAMessageIsDelegatedAsItWasShown(t *testing.T) {
	var got peer.Message
	p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
		got = m
		return peer.Reply{State: contract.TaskCompleted, TaskID: "t-1", Text: "deployed"}, nil
	})
	r, err := run(t, t.Context(), p.Delegate, delegating(t, `{"message":"deploy <it>"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := peer.Message{Peer: risky, MessageID: "m-1", Text: "deploy <it>", SessionID: "s-1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(contract.DelegateResult{State: contract.TaskCompleted, TaskID: "t-1", Text: contract.Inline("deployed")}, r); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestADecisionIsPassedOn(t *testing.T) {
	for _, d := range []contract.Decision{contract.Approved, contract.Rejected} {
		var got peer.Message
		p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
			got = m
			return peer.Reply{State: contract.TaskInputRequired, Text: "and the next?"}, nil
		})
		r, err := run(t, t.Context(), p.Delegate, deciding(d))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(peer.Message{Peer: risky, MessageID: "m-2", TaskID: "t-1", Decision: d, SessionID: "s-1"}, got); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
		if r.State != contract.TaskInputRequired || r.TaskID != "t-1" { // the task continues under its ID
			t.Errorf("result %+v", r)
		}
	}
}

func TestWhatIsNoDecisionIsNotPassedOn(t *testing.T) {
	for _, d := range []contract.Decision{contract.Expired, contract.Cancelled, "yes"} {
		_, err := run(t, t.Context(), peers(t, unsent(t)).Delegate, deciding(d))
		failedAs(t, err, contract.KindInvalid, false)
	}
}

func TestEveryStateOfATaskComesBack(t *testing.T) {
	for _, state := range []contract.TaskState{
		contract.TaskCompleted, contract.TaskFailed, contract.TaskRejected, contract.TaskCanceled,
		contract.TaskInputRequired, contract.TaskAuthRequired, contract.TaskWorking,
	} {
		p := peers(t, saying(peer.Reply{State: state, TaskID: "t-1", Text: "why"}, nil))
		got, err := run(t, t.Context(), p.Delegate, delegating(t, `{"message":"x"}`))
		if err != nil || got.State != state || got.TaskID != "t-1" || got.Text.Inline != "why" || got.NoEntry {
			t.Errorf("%s: %+v, %v", state, got, err)
		}
	}
}

func TestAReplyThatMakesNoSenseIsNotAskedForAgain(t *testing.T) {
	for name, r := range map[string]peer.Reply{
		"no state": {TaskID: "t-1"}, "a state of no task": {State: "asleep", TaskID: "t-1"}, "work on no task": {State: contract.TaskWorking}, "a state with the token": {State: canary},
		"input for no task": {State: contract.TaskInputRequired},
	} {
		t.Run(name, func(t *testing.T) {
			p := peers(t, saying(r, nil))
			_, err := run(t, withToken(t, p), p.Delegate, delegating(t, `{"message":"x"}`))
			failedAs(t, err, contract.KindPeerFailed, false)
		})
	}
}

func TestAnotherMessageThanTheOneShownIsRefused(t *testing.T) {
	tests := map[string]struct {
		change func(*contract.DelegateInput)
		kind   contract.Kind
	}{
		"changed arguments": {func(in *contract.DelegateInput) { in.Arguments = raw(`{"message":"y"}`) }, contract.KindDigest},
		"no digest":         {func(in *contract.DelegateInput) { in.SHA256 = "" }, contract.KindDigest},
		"no arguments":      {func(in *contract.DelegateInput) { in.Arguments = contract.JSON{} }, contract.KindDigest},
		"no object":         {func(in *contract.DelegateInput) { in.Arguments = raw(`[1]`); in.SHA256 = contract.Hash([]byte(`[1]`)) }, contract.KindDigest},
		"no message":        {func(in *contract.DelegateInput) { *in = delegating(t, `{"text":"x"}`) }, contract.KindInvalid},
		"an empty message":  {func(in *contract.DelegateInput) { *in = delegating(t, `{"message":""}`) }, contract.KindInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := delegating(t, `{"message":"x"}`)
			tt.change(&in)
			_, err := run(t, t.Context(), peers(t, unsent(t)).Delegate, in)
			failedAs(t, err, tt.kind, false)
		})
	}
}

func TestALongMessageAndALongAnswerLiveInTheStore(t *testing.T) {
	var got string
	p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
		got = m.Text
		return peer.Reply{State: contract.TaskCompleted, Text: long}, nil
	})
	args := `{"message":"` + long + `"}`
	in := delegating(t, args)
	var err error
	if in.Arguments, err = transcript.JSON(t.Context(), p.Blobs, []byte(args)); err != nil || in.Arguments.Blob == nil {
		t.Fatal(in.Arguments, err)
	}
	r, err := run(t, t.Context(), p.Delegate, in)
	if err != nil || got != long || r.Text.Blob == nil || text(t, p.Blobs.(*memory), r.Text) != long {
		t.Errorf("sent %.60q, got %+v, %v", got, r, err)
	}
}

func TestAMessageThatIsLostIsAFailureBeforeItIsSent(t *testing.T) {
	in := delegating(t, `{"message":"x"}`)
	lost := contract.NewBlob([]byte("never stored"))
	in.Arguments = contract.JSON{Blob: &lost}
	_, err := run(t, t.Context(), peers(t, unsent(t)).Delegate, in)
	failedAs(t, err, contract.KindBlob, true)
}

func TestAnAnswerThatIsNotStoredIsAskedForAgain(t *testing.T) {
	p := peers(t, saying(peer.Reply{State: contract.TaskCompleted, Text: long}, nil))
	p.Blobs.(*memory).putErr = errStore
	_, err := run(t, t.Context(), p.Delegate, delegating(t, `{"message":"x"}`))
	failedAs(t, err, contract.KindPeerUnavailable, true)
}

// withToken returns a context with a valid token.
func withToken(t *testing.T, p *activities.Peers) context.Context {
	return credential.NewContext(t.Context(), sealWith(t, p.Keyring, conversationID, credential.Token{Bearer: canary, ExpiresAt: noon.Add(1)}))
}

func TestTheCallersTokenIsForwardedToThePeer(t *testing.T) {
	for _, in := range []contract.DelegateInput{delegating(t, `{"message":"x"}`), deciding(contract.Approved)} {
		var bearer string
		p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
			bearer = m.Bearer
			return peer.Reply{State: contract.TaskAuthRequired, Text: "not with " + m.Bearer}, nil
		})
		got, err := run(t, withToken(t, p), p.Delegate, in)
		if err != nil || bearer != canary || got.Note != "" || !got.NoEntry {
			t.Errorf("token forwarded: %t, note %q, %v", bearer == canary, got.Note, err)
		}
		if got.Text.Inline != "not with [bearer token]" {
			t.Errorf("the answer is %q", got.Text.Inline)
		}
	}
}

// A task that waits for a login gets the token of a poll, once if it arrives.
func TestATaskThatWaitsForATokenGetsTheNext(t *testing.T) {
	waits := peer.Reply{State: contract.TaskAuthRequired, TaskID: "t1", Asked: &contract.ApprovalRequest{UUID: "a1", Reason: contract.ReasonLogin}}
	var sent []peer.Message
	helps := false
	var away error
	p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
		sent = append(sent, m)
		switch {
		case m.Decision == "":
			return waits, nil
		case away != nil:
			return peer.Reply{}, away
		case helps:
			return peer.Reply{State: contract.TaskWorking, TaskID: "t1"}, nil
		}
		return peer.Reply{}, &peer.Error{Kind: contract.KindPeerFailed, Message: "that is no login"}
	})
	poll := contract.DelegateInput{ConversationID: conversationID, Peer: contract.Peer{Name: "deploy", URL: "https://deploy.example.com"}, TaskID: "t1"}
	for range 2 {
		if got, err := run(t, withToken(t, p), p.Delegate, poll); err != nil || got.State != contract.TaskAuthRequired {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
	if len(sent) != 3 || sent[1].Decision != contract.Approved || !sent[1].Renews || sent[1].Asked.UUID != "a1" || sent[1].Bearer != canary {
		t.Fatalf("sent %+v", sent)
	}
	helps, waits.TaskID, poll.TaskID = true, "t2", "t2"
	if got, err := run(t, withToken(t, p), p.Delegate, poll); err != nil || got.State != contract.TaskWorking {
		t.Errorf("got %+v, %v", got, err)
	}
	away = &peer.Error{Kind: contract.KindPeerUnavailable, Message: "away"}
	waits.TaskID, poll.TaskID = "t3", "t3"
	for _, want := range []contract.TaskState{contract.TaskAuthRequired, contract.TaskWorking} {
		if got, err := run(t, withToken(t, p), p.Delegate, poll); err != nil || got.State != want {
			t.Errorf("got %+v, %v, want %s", got, err, want)
		}
		away = nil
	}
	before := len(sent)
	if _, err := run(t, t.Context(), p.Delegate, poll); err != nil || len(sent) != before+1 {
		t.Errorf("without a token %d messages were sent, %v", len(sent)-before, err)
	}
}

func TestAnExpiredTokenMeansADelegationWithoutOneAndANote(t *testing.T) {
	p := peers(t, func(_ context.Context, m peer.Message) (peer.Reply, error) {
		if m.Bearer != "" {
			t.Error("a token was forwarded")
		}
		return peer.Reply{State: contract.TaskCompleted, Text: "ok"}, nil
	})
	sealed := sealWith(t, p.Keyring, conversationID, credential.Token{Bearer: canary, ExpiresAt: noon})
	got, err := run(t, credential.NewContext(t.Context(), sealed), p.Delegate, delegating(t, `{"message":"x"}`))
	if want := "Called without authorization: the caller's token has expired."; err != nil || got.Note != want || got.Text.Inline != "ok" {
		t.Errorf("note %q, %v; expected %q", got.Note, err, want)
	}
}

func TestAFailedDelegationKeepsItsKind(t *testing.T) {
	tests := map[string]struct {
		err     error
		kind    contract.Kind
		retried bool
		message string
		delay   time.Duration
	}{
		"refused": {&peer.Error{Kind: contract.KindPeerFailed, Message: "no such skill"}, contract.KindPeerFailed, false, "no such skill", 0},
		"busy": {&peer.Error{Kind: contract.KindPeerUnavailable, Message: "busy", RetryAfter: 9 * time.Second},
			contract.KindPeerUnavailable, true, "busy", 9 * time.Second},
		"busy for long": {&peer.Error{Kind: contract.KindPeerUnavailable, Message: "busy", RetryAfter: time.Hour},
			contract.KindPeerUnavailable, false, "busy (to be tried again in 1h0m0s)", 0},
		"unreachable": {errors.New("connection refused"), contract.KindPeerUnavailable, true, "delegate to agent deploy: connection refused", 0},
		"with the token in it": {errors.New("bad header " + canary), contract.KindPeerUnavailable, true,
			"delegate to agent deploy: bad header [bearer token]", 0},
		"refused with the token in it": {&peer.Error{Kind: contract.KindPeerFailed, Message: "not you, " + canary},
			contract.KindPeerFailed, false, "not you, [bearer token]", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := peers(t, saying(peer.Reply{}, tt.err))
			_, err := run(t, withToken(t, p), p.Delegate, delegating(t, `{"message":"x"}`))
			app := failedAs(t, err, tt.kind, tt.retried)
			if app.Message() != tt.message || app.NextRetryDelay() != tt.delay {
				t.Errorf("message %q, next attempt in %s", app.Message(), app.NextRetryDelay())
			}
		})
	}
}

func TestTheTextThatWasDecidedOnGoesAlong(t *testing.T) {
	var got peer.Message
	p := peers(t, recordAndComplete(&got))
	in := deciding(contract.Approved)
	var err error
	if in.Question, err = transcript.Text(t.Context(), p.Blobs, long); err != nil || in.Question.Blob == nil {
		t.Fatal(in.Question, err)
	}
	if _, err := run(t, t.Context(), p.Delegate, in); err != nil || got.Question != long {
		t.Errorf("%d bytes, %v", len(got.Question), err)
	}
}

func TestATimeoutOfThePeerIsAFailureAndNoCancellation(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), noon)
	defer cancel()
	_, err := peers(t, saying(peer.Reply{}, context.DeadlineExceeded)).Delegate(ctx, delegating(t, `{"message":"x"}`))
	failedAs(t, err, contract.KindPeerUnavailable, true)
}

func TestWithoutAPeerNothingIsDelegated(t *testing.T) {
	p := &activities.Peers{Blobs: newMemory(), Keyring: ring(t, "k1"), Now: time.Now}
	_, err := run(t, t.Context(), p.Delegate, delegating(t, `{"message":"x"}`))
	if app := failedAs(t, err, contract.KindPeerFailed, false); !strings.Contains(app.Message(), "not supported") {
		t.Errorf("message %q", app.Message())
	}
}

func TestADelegationHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b beats
		p := peers(t, func(context.Context, peer.Message) (peer.Reply, error) {
			<-time.After(11 * time.Second)
			return peer.Reply{State: contract.TaskCompleted}, nil
		})
		o := worker.Options{Interceptors: []interceptor.WorkerInterceptor{&b}}
		if _, err := runWith(t, o, p.Delegate, delegating(t, `{"message":"x"}`)); err != nil {
			t.Fatal(err)
		}
		if n := b.n.Load(); n != 2 {
			t.Errorf("%d heartbeats in 11 s", n)
		}
	})
}

func TestWhatATaskAsksComesBack(t *testing.T) {
	asked := contract.ApprovalRequest{
		UUID: "u-1", Tool: "drop", Arguments: []byte(`{"name":"all"}`), Digest: "d", Reason: contract.ReasonQuestion,
		Description: "Drop it.", Schema: []byte(`{"type":"object"}`), Chain: []string{"deploy", "store"},
	}
	reply := peer.Reply{State: contract.TaskInputRequired, TaskID: "t-1", ContextID: "c-1", Asked: &asked}
	got, err := run(t, t.Context(), peers(t, saying(reply, nil)).Delegate, delegating(t, `{"message":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &contract.Origin{
		Chain: []string{"deploy", "store"}, UUID: "u-1", Tool: "drop", Arguments: raw(`{"name":"all"}`), Digest: "d",
		Reason: contract.ReasonQuestion, Description: "Drop it.", Schema: raw(`{"type":"object"}`),
	}
	if diff := cmp.Diff(want, got.Asked); diff != "" || got.ContextID != "c-1" {
		t.Errorf("context %q, asked (-want +got):\n%s", got.ContextID, diff)
	}
}

func TestALargeSchemaOfAnotherAgentGoesByReference(t *testing.T) {
	asked := contract.ApprovalRequest{UUID: "u-1", Reason: contract.ReasonQuestion, Schema: form(contract.InlineLimit + 1)}
	reply := peer.Reply{State: contract.TaskInputRequired, TaskID: "t-1", Asked: &asked}
	p := peers(t, saying(reply, nil))
	got, err := run(t, t.Context(), p.Delegate, delegating(t, `{"message":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := transcript.ReadJSON(t.Context(), p.Blobs, got.Asked.Schema)
	if err != nil || got.Asked.Schema.Blob == nil || string(schema) != string(asked.Schema) || !strings.Contains(got.Asked.Accepts, `"n" (integer, required)`) {
		t.Errorf("%v, got %+v", err, got.Asked)
	}
}

func TestFilesOfATaskAreKept(t *testing.T) {
	reply := peer.Reply{State: contract.TaskCompleted, TaskID: "t-1", Text: "done", Files: []peer.File{
		{Name: "plan.png", MIMEType: "image/png", Data: []byte("png")}, {Name: "log", URL: "https://example.com/log"},
	}}
	got, err := run(t, t.Context(), peers(t, saying(reply, nil)).Delegate, delegating(t, `{"message":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Text.Inline != "done\n\nlog https://example.com/log" {
		t.Errorf("text %q", got.Text.Inline)
	}
	if len(got.Media) != 1 || got.Media[0].Name != "plan.png" || got.Media[0].MIMEType != "image/png" || got.Media[0].Size != 3 {
		t.Errorf("media %+v", got.Media)
	}
}

func TestWorkThatWentTooFarIsNotSentOn(t *testing.T) {
	in := delegating(t, `{"message":"x"}`)
	in.Chain = []string{"a", "b", "a", "b", "a", "b", "a", "b", "a"}
	_, err := run(t, t.Context(), peers(t, unsent(t)).Delegate, in)
	failedAs(t, err, contract.KindPeerFailed, false)
}

func TestATaskIsLookedAtAndEnded(t *testing.T) {
	for _, cancel := range []bool{false, true} {
		var got peer.Message
		in := deciding("")
		in.Cancel, in.ContextID = cancel, "c-1"
		if _, err := run(t, t.Context(), peers(t, recordAndComplete(&got)).Delegate, in); err != nil {
			t.Fatal(err)
		}
		want := peer.Message{Peer: risky, MessageID: "m-2", TaskID: "t-1", ContextID: "c-1", SessionID: "s-1", Cancel: cancel}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	}
}
