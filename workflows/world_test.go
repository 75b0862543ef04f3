package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/contract/ticket"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/credential"
)

// world has the activities of a conversation: a model, tools and the exported file. A nil
// function returns a harmless default. Every call is recorded.
type world struct {
	GenerateFn func(context.Context, contract.GenerateInput) (contract.GenerateResult, error)
	CallToolFn func(context.Context, contract.CallToolInput) (contract.CallToolResult, error)
	ExportFn   func(context.Context, contract.ExportInput) (contract.ExportResult, error)
	DelegateFn func(context.Context, contract.DelegateInput) (contract.DelegateResult, error)
	DigestFn   func(context.Context, contract.SummarizeInput) (contract.SummarizeResult, error)
	NotifyFn   func(contract.NotifyInput) (contract.NotifyResult, error)
	OffloadFn  func(contract.OffloadInput)
	JudgeFn    func(verdict.Delegation) *verdict.Verdict
	ReviewFn   func(review.Input) (review.Result, error)
	GiveFn     func(standing.Giving) error
	// Slow: calls take longer than a local activity may.
	Slow bool

	mu      sync.Mutex
	prompts []contract.GenerateInput
	calls   []contract.CallToolInput
	exports []contract.ConversationView // tried
	written []contract.ConversationView
	sent    []contract.DelegateInput
	digests []contract.SummarizeInput
	called  []contract.NotifyInput // webhooks
	blobs   store
	log     []string // activities, how they ran, and with whose token
	marks   []string // notes of a test
	held    map[string][]byte
	tickets int
	failed  map[string]error // calls that were handed over, by ticket
}

func (w *world) mark(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marks = append(w.marks, s)
}

func (w *world) register(env *testsuite.TestWorkflowEnvironment) {
	w.held = map[string][]byte{}
	w.failed = map[string]error{}
	registerCall(env, w, contract.ActivityGenerate, w.generate)
	registerCall(env, w, contract.ActivitySummarize, w.digest)
	registerCall(env, w, contract.ActivityCallTool, w.callTool)
	env.RegisterActivityWithOptions(w.delegate, activity.RegisterOptions{Name: contract.ActivityDelegate.Name})
	env.RegisterActivityWithOptions(w.compose, activity.RegisterOptions{Name: contract.ActivityCompose.Name})
	env.RegisterActivityWithOptions(w.fold, activity.RegisterOptions{Name: contract.ActivityOffload.Name})
	env.RegisterActivityWithOptions(w.readAnswer, activity.RegisterOptions{Name: contract.ActivityReadAnswer.Name})
	env.RegisterActivityWithOptions(func(_ context.Context, in standing.Giving) (struct{}, error) { return struct{}{}, w.GiveFn(in) }, activity.RegisterOptions{Name: standing.Give.Name})
	env.RegisterActivityWithOptions(func(_ context.Context, in review.Input) (review.Result, error) { return w.ReviewFn(in) }, activity.RegisterOptions{Name: review.Activity.Name})
	env.RegisterActivityWithOptions(w.export, activity.RegisterOptions{Name: contract.ActivityExport.Name})
	env.RegisterActivityWithOptions(w.notify, activity.RegisterOptions{Name: contract.ActivityNotify.Name})
}

// registerCall registers a call that may be handed over.
func registerCall[In, Out any](env *testsuite.TestWorkflowEnvironment, w *world, a contract.Activity[In, Out], method func(context.Context, In) (Out, error)) {
	env.RegisterActivityWithOptions(func(ctx context.Context, in In) (out Out, err error) {
		if err := w.failure(activity.GetInfo(ctx).ActivityID); err != nil {
			return out, err
		}
		return method(ctx, in)
	}, activity.RegisterOptions{Name: a.Name})
	env.RegisterActivityWithOptions(func(ctx context.Context, in ticket.Start[In]) (ticket.Started[Out], error) {
		var out Out
		var err error
		if !w.Slow {
			out, err = method(ctx, in.Input)
		}
		var known *temporal.ApplicationError
		if !w.Slow && (err == nil || ctx.Err() != nil || errors.As(err, &known) && known.NonRetryable()) {
			return ticket.Started[Out]{Result: &out}, err
		}
		return ticket.Started[Out]{Ticket: w.ticket(err)}, nil
	}, activity.RegisterOptions{Name: ticket.StartOf(a).Name})
}

func (w *world) ticket(err error) *ticket.Ticket {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tickets++
	id := fmt.Sprint("ticket-", w.tickets)
	w.failed[id] = err
	return &ticket.Ticket{Queue: "own", ID: id}
}

// failure is how a call has failed before it was joined.
func (w *world) failure(ticket string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer delete(w.failed, ticket)
	return w.failed[ticket]
}

func (w *world) notify(ctx context.Context, in contract.NotifyInput) (contract.NotifyResult, error) {
	w.note(ctx, "notify "+in.Config.ID, func() { w.called = append(w.called, in) })
	if w.NotifyFn == nil {
		return contract.NotifyResult{Status: 200}, nil
	}
	return w.NotifyFn(in)
}

func (w *world) generate(ctx context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	w.note(ctx, "generate", func() {
		w.prompts = append(w.prompts, in)
		w.held["generate "+in.Prompt.Inline] = w.held["generate"]
	})
	if w.GenerateFn == nil {
		return says("Hello!"), nil
	}
	out, err := w.GenerateFn(ctx, in)
	if out.Usage.Calls > 0 { // a reply of today
		out.DraftID = in.DraftID
	}
	return out, err
}

func (w *world) digest(ctx context.Context, in contract.SummarizeInput) (contract.SummarizeResult, error) {
	w.note(ctx, "digest", func() { w.digests = append(w.digests, in) })
	return w.DigestFn(ctx, in)
}

func (w *world) callTool(ctx context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
	w.note(ctx, callName(in), func() { w.calls = append(w.calls, in) })
	if w.CallToolFn == nil {
		return returns(in.Tool + " done"), nil
	}
	return w.CallToolFn(ctx, in)
}

func (w *world) export(ctx context.Context, in contract.ExportInput) (contract.ExportResult, error) {
	w.note(ctx, "export", func() { w.exports = append(w.exports, in.Conversation) })
	if w.ExportFn != nil {
		if out, err := w.ExportFn(ctx, in); err != nil {
			return out, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written = append(w.written, in.Conversation)
	return contract.ExportResult{}, nil
}

func (w *world) note(ctx context.Context, what string, record func()) {
	info := activity.GetInfo(ctx)
	how := "regular"
	if info.IsLocalActivity {
		how = "local"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[what] = info.TaskToken
	w.log = append(w.log, fmt.Sprintf("%s %s %s", how, what, credential.FromContext(ctx)))
	record()
}

// read returns a copy of a list that the world has recorded.
func read[T any](w *world, list *[]T) []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]T(nil), *list...)
}

// ran lists the tool calls in order.
func (w *world) ran() (out []string) {
	for _, c := range read(w, &w.calls) {
		out = append(out, callName(c))
	}
	return out
}

// exported returns the content of the file.
func (w *world) exported() contract.ConversationView {
	all := read(w, &w.written)
	if len(all) == 0 {
		return contract.ConversationView{}
	}
	return all[len(all)-1]
}

func callName(c contract.CallToolInput) string { return c.Tool + string(c.Arguments.Raw) }

// release ends an activity that returned held.
func (s *session) release(what string, result any, err error) {
	s.t.Helper()
	s.world.mu.Lock()
	token := s.world.held[what]
	s.world.mu.Unlock()
	if token == nil {
		s.t.Fatalf("%s was not called", what)
	}
	if err := s.env.CompleteActivity(token, result, err); err != nil {
		s.t.Fatalf("complete %s: %v", what, err)
	}
	// The test environment wakes only the conversation; a signal that is not received wakes the
	// nodes, too.
	for _, n := range s.seen.nodes {
		_ = s.env.SignalWorkflowByID(n.ID, "nudge", nil) // one that has ended needs none
	}
}

// held leaves an activity running until the test releases it.
var held = activity.ErrResultPending

// script returns a model that gives these replies one after the other; an error among them
// fails the call.
func script(replies ...any) func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
	var mu sync.Mutex
	return func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(replies) == 0 {
			return contract.GenerateResult{}, fails(contract.KindModelRequest, "the script has ended")
		}
		next := replies[0]
		replies = replies[1:]
		if err, ok := next.(error); ok {
			return contract.GenerateResult{}, err
		}
		return next.(contract.GenerateResult), nil
	}
}

// echo is a model that repeats the user's last message.
func echo(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	for i := len(in.Transcript.Tail) - 1; i >= 0; i-- {
		if m := in.Transcript.Tail[i]; m.Role == contract.RoleUser && !m.Notice {
			return says("echo " + m.Content.Inline), nil
		}
	}
	return contract.GenerateResult{}, errors.New("nobody said anything")
}

func holdModel(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
	return contract.GenerateResult{}, held
}

func holdTools(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
	return contract.CallToolResult{}, held
}

func says(text string) contract.GenerateResult {
	return contract.GenerateResult{Text: contract.Inline(text), Usage: contract.Usage{InputTokens: 10, OutputTokens: 2}}
}

func asks(calls ...contract.Call) contract.GenerateResult {
	return contract.GenerateResult{Calls: calls, Usage: contract.Usage{InputTokens: 20, OutputTokens: 4, CachedTokens: 1}}
}

func returns(text string) contract.CallToolResult {
	return contract.CallToolResult{Text: contract.Inline(text)}
}

// list returns a read-only call, add a destructive one.
func list(id string) contract.Call {
	return callOf("resources_list", id, `{"pattern":"`+id+`"}`, false)
}
func add(name string) contract.Call {
	return callOf("resources_add", name, `{"name":"`+name+`","value":1}`, true)
}

func callOf(tool, id, args string, destructive bool) contract.Call {
	return contract.Call{
		ID: id, Name: tool, Server: "resources", Wording: contract.WordingResources, Destructive: destructive,
		Arguments: contract.JSON{Raw: json.RawMessage(args)}, SHA256: contract.Hash([]byte(args)),
	}
}

// fails returns an error as activities return it.
func fails(kind contract.Kind, message string) error {
	return temporal.NewApplicationErrorWithOptions(message, string(kind), temporal.ApplicationErrorOptions{
		NonRetryable: kind.Permanent(),
	})
}

// hello returns a conversation that starts with the message "hello", request r1.
func hello() contract.ConversationInput {
	in := silent()
	in.First = &contract.MessageSignal{RequestID: "r1", Text: contract.Inline("hello")}
	return in
}

// silent returns a conversation that starts without a message.
func silent() contract.ConversationInput {
	return contract.ConversationInput{
		ID: conversationID, SessionID: "sid-1",
		Agent: contract.Agent{Name: "tester", Model: "demo:rules", Prompt: contract.Inline(systemPrompt)},
	}
}

func with(in contract.ConversationInput, change func(*contract.Agent)) contract.ConversationInput {
	change(&in.Agent)
	return in
}

// trimmed returns the log without tokens, for tests that use none.
func trimmed(log []string) (out []string) {
	for _, s := range log {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}
