package workflows_test

import (
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/console"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/proof"
)

const (
	conversationID = "11111111-1111-4111-8111-111111111111"
	systemPrompt   = "Be brief."
	serverAddress  = "temporal.example.com:7233"
)

// gatewayKeys prove identities.
var gatewayKeys = keysOf("k1")

func keysOf(id string) *credential.Keyring {
	keys, err := credential.NewKeyring(credential.Key{ID: id, Secret: []byte(strings.Repeat("k", credential.KeySize))})
	if err != nil {
		panic(err)
	}
	return keys
}

// prove returns the proof of what the gateway sends.
func (s *session) prove(workflowID, name string, payload any) string {
	s.t.Helper()
	proof, err := gatewayKeys.Prove(workflowID, name, payload)
	if err != nil {
		s.t.Fatal(err)
	}
	return proof
}

// session is a running conversation in a test. The test's body runs between workflow tasks: the
// workflow is suspended meanwhile, and rest lets it run until it only waits for signals or
// timers.
type session struct {
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	sent  int // updates about rules
	world *world
	seen  *recorder
	yield func(time.Duration) bool
	over  bool
}

// converse runs a conversation against w. It is closed when body returns, unless it has ended
// by then.
func converse(t *testing.T, w *world, in contract.ConversationInput, body func(s *session)) *session {
	t.Helper()
	s := newSession(t, w, contract.ConversationWorkflowID(in.ID))
	s.env.SetOnChildWorkflowStartedListener(s.childStarted)
	s.run(contract.WorkflowConversation, in, body, func() { s.close("", "") })
	var continued *workflow.ContinueAsNewError
	if err := s.env.GetWorkflowError(); err != nil && !errors.As(err, &continued) && !temporal.IsCanceledError(err) {
		t.Errorf("the conversation failed: %v", err)
	}
	return s
}

// runApprovalAlone runs an approval without the conversation that asks for it. It is cancelled
// when body returns, unless it has ended by then.
func runApprovalAlone(t *testing.T, in contract.ApprovalInput, body func(s *session)) contract.ApprovalResult {
	t.Helper()
	s := newSession(t, &world{}, contract.ApprovalWorkflowID(in.UUID))
	s.run(contract.WorkflowApproval, in, body, s.env.CancelWorkflow)
	var r contract.ApprovalResult
	if err := s.env.GetWorkflowResult(&r); err != nil {
		t.Errorf("the approval failed: %v", err)
	}
	return r
}

func newSession(t *testing.T, w *world, workflowID string) *session {
	s := &session{t: t, world: w, seen: &recorder{}}
	s.env = environment(s.seen)
	s.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflowID, TaskQueue: "test"})
	w.register(s.env)
	return s
}

// nodesRollOverAfter makes every run of a node look long after the given number of activities
// and child workflows. Zero means never.
func (s *session) nodesRollOverAfter(commands int) {
	s.seen.rollOver = commands
	s.env.SetCurrentHistoryLength(1_000) // long for a node, short for a conversation
}

// run runs body as a coroutine of the test environment's main loop.
func (s *session) run(name string, in any, body func(*session), end func()) {
	next, stop := iter.Pull(func(yield func(time.Duration) bool) {
		s.yield = yield
		body(s)
	})
	defer stop()
	var step func()
	step = func() {
		if d, more := next(); more {
			s.env.RegisterDelayedCallback(step, d)
		} else if !s.env.IsWorkflowCompleted() {
			end()
		}
	}
	s.env.RegisterDelayedCallback(step, 10*time.Second)
	s.env.ExecuteWorkflow(name, in)
	s.over = true
	for more := true; more; { // the workflow ended before the body
		_, more = next()
	}
}

func environment(seen *recorder) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(decisionLog{slog.DiscardHandler, seen})))
	suite.SetContextPropagators([]workflow.ContextPropagator{header.Propagator()})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(2 * time.Minute)
	// On a busy machine a coroutine may not run for the second that is the default.
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{seen, console.Show(serverAddress), proof.With(gatewayKeys)}, DeadlockDetectionTimeout: 2 * time.Minute})
	workflows.Register(env)
	return env
}

// rest lets the workflow run until it waits. That includes retries of activities, but not of
// exports.
func (s *session) rest() { s.sleep(10 * time.Second) }

// sleep advances the workflow's clock. While an activity runs, that takes real time, so a
// shorter sleep would end before the activity.
func (s *session) sleep(d time.Duration) {
	if !s.over {
		s.yield(d)
	}
}

func (s *session) say(requestID, text string) {
	s.message(contract.MessageSignal{RequestID: requestID, Text: contract.Inline(text)})
}

func (s *session) message(m contract.MessageSignal) { s.env.SignalWorkflow(contract.SignalMessage, m) }

func (s *session) cancel(requestID, reason string) {
	s.env.SignalWorkflow(contract.SignalCancel, contract.CancelSignal{RequestID: requestID, Reason: reason})
}

func (s *session) close(requestID, reason string) {
	s.env.SignalWorkflow(contract.SignalClose, contract.CloseSignal{RequestID: requestID, Reason: reason})
}

// decide signals the oldest open approval.
func (s *session) decide(answer any) {
	s.t.Helper()
	s.decideOn(s.pending().UUID, answer)
}

func (s *session) decideOn(uuid string, answer any) {
	s.t.Helper()
	if err := s.env.SignalWorkflowByID(contract.ApprovalWorkflowID(uuid), contract.SignalDecide, answer); err != nil {
		s.t.Fatalf("signal approval: %v", err)
	}
}

func (s *session) approve() { s.t.Helper(); s.decide(contract.DecideSignal{Approved: true}) }
func (s *session) reject()  { s.t.Helper(); s.decide(contract.DecideSignal{}) }

// typed returns a payload as the command line sends it: the JSON as it was typed.
func typed(raw string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)},
		Data:     []byte(raw),
	})
}

func (s *session) view() contract.ConversationView {
	s.t.Helper()
	return query[contract.ConversationView](s, contract.ConversationWorkflowID(conversationID), contract.QueryConversation)
}

// request returns the conversation's record of a request, or the zero value.
func (s *session) request(id string) contract.Request {
	s.t.Helper()
	v := query[contract.ConversationView](s, contract.ConversationWorkflowID(conversationID),
		contract.QueryConversation, contract.ConversationQuery{RequestID: id})
	if v.Request == nil {
		return contract.Request{}
	}
	return *v.Request
}

// answer returns the response of a settled request.
func (s *session) answer(id string) string {
	s.t.Helper()
	r := s.request(id)
	if !r.Settled || r.Result == nil {
		s.t.Fatalf("request %s has no answer: %+v", id, r)
	}
	return r.Result.Response.Inline
}

func (s *session) unsettled(id string) {
	s.t.Helper()
	if r := s.request(id); r.Settled {
		s.t.Fatalf("request %s has an answer already: %+v", id, *r.Result)
	}
}

// pending returns the only open approval.
func (s *session) pending() contract.PendingApproval {
	s.t.Helper()
	list := query[[]contract.PendingApproval](s, contract.ConversationWorkflowID(conversationID), contract.QueryPending)
	if len(list) != 1 {
		s.t.Fatalf("%d approvals wait, expected 1; the conversation:\n%s", len(list), strings.Join(s.lines(), "\n"))
	}
	return list[0]
}

func (s *session) nothingWaits() {
	s.t.Helper()
	if list := query[[]contract.PendingApproval](s, contract.ConversationWorkflowID(conversationID), contract.QueryPending); len(list) > 0 {
		s.t.Fatalf("an approval waits: %+v", list)
	}
}

func (s *session) approval(uuid string) contract.ApprovalView {
	s.t.Helper()
	return query[contract.ApprovalView](s, contract.ApprovalWorkflowID(uuid), contract.QueryApproval)
}

// details returns the details of a workflow in the Web UI.
func (s *session) details(workflowID string) string {
	s.t.Helper()
	v, err := s.env.QueryWorkflowByID(workflowID, "__temporal_workflow_metadata")
	if err != nil {
		s.t.Fatalf("query metadata: %v", err)
	}
	var m sdkpb.WorkflowMetadata
	if err := v.Get(&m); err != nil {
		s.t.Fatalf("decode metadata: %v", err)
	}
	return m.GetCurrentDetails()
}

func query[T any](s *session, workflowID, name string, args ...any) T {
	s.t.Helper()
	var out T
	v, err := s.env.QueryWorkflowByID(workflowID, name, args...)
	if err != nil {
		s.t.Fatalf("query %s of %s: %v", name, workflowID, err)
	}
	if err := v.Get(&out); err != nil {
		s.t.Fatalf("decode %s: %v", name, err)
	}
	return out
}

// awaitCaller is a caller of await_settled.
type awaitCaller struct {
	accepted, done bool
	rejected       error
	result         contract.AwaitResult
}

func (s *session) await(ids ...string) *awaitCaller { return s.awaitThen(func() {}, ids...) }

func (s *session) awaitThen(then func(), ids ...string) *awaitCaller {
	w := &awaitCaller{}
	s.env.UpdateWorkflow(contract.UpdateAwaitSettled, "", &testsuite.TestUpdateCallback{
		OnAccept: func() { w.accepted = true },
		OnReject: func(err error) { w.rejected = err },
		OnComplete: func(v any, err error) {
			if w.done = true; err != nil {
				s.t.Errorf("await_settled failed: %v", err)
				return
			}
			w.result = v.(contract.AwaitResult)
			then()
		},
	}, contract.AwaitInput{RequestIDs: ids})
	return w
}

// processed returns a channel that is closed once the workflow has handled all earlier signals.
func (s *session) processed() <-chan struct{} {
	done := make(chan struct{})
	s.env.UpdateWorkflow(contract.UpdateAwaitSettled, "", &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnComplete: func(any, error) {}, OnReject: func(error) { close(done) },
	}, contract.AwaitInput{})
	return done
}

func (w *awaitCaller) ids() (out []string) {
	for _, r := range w.result.Settled {
		out = append(out, r.ID)
	}
	return out
}

// result returns the result of the workflow.
func (s *session) result() contract.ConversationResult {
	s.t.Helper()
	var r contract.ConversationResult
	if err := s.env.GetWorkflowResult(&r); err != nil {
		s.t.Fatalf("the workflow failed: %v", err)
	}
	return r
}

// lines returns the transcript, one line for each message, with UUIDs of approvals masked.
func (s *session) lines() []string {
	s.t.Helper()
	return lines(s.view().Transcript.Tail)
}

func lines(messages []contract.Message) (out []string) {
	for _, m := range messages {
		out = append(out, line(m))
	}
	return out
}

func line(m contract.Message) string {
	c := m.ToolCall
	switch {
	case c != nil && m.Role == contract.RoleAssistant:
		return "call " + c.Name + " " + string(c.Arguments.Raw)
	case c != nil && c.IsError:
		return "failed " + c.Name + ": " + c.Result.Inline
	case c != nil:
		return "result " + c.Name + ": " + c.Result.Inline
	}
	text, uuid, asked := strings.Cut(m.Content.Inline, "using the approval UUID: ")
	if asked && contract.IsUUID(uuid) {
		text += "using the approval UUID: UUID"
	}
	return string(m.Role) + ": " + text
}
