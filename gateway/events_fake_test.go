package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// script is a conversation that a test writes.
type script struct {
	mu      sync.Mutex
	view    contract.ConversationView
	tree    *contract.TreeView
	exists  bool
	started contract.ConversationInput
	reads   int
	trees   int
	sent    []contract.MessageSignal
	decided map[string]contract.DecideSignal
	settled map[string]contract.Request
	changed chan struct{}
	readErr error
	// onMessage and onDecide do the agent's work. They are called with the lock held.
	onMessage func(contract.MessageSignal)
	onDecide  func(string, contract.DecideSignal)
	asked     map[string]contract.PendingApproval
	// refuse refuses a decision; it may be nil.
	refuse func(contract.DecideSignal) error
}

func newScript() *script {
	return &script{
		view: viewOf(someID), exists: true, decided: map[string]contract.DecideSignal{}, asked: map[string]contract.PendingApproval{},
		settled: map[string]contract.Request{}, changed: make(chan struct{}),
	}
}

func (s *script) backend() *fakeBackend {
	return &fakeBackend{
		StartFn: s.start, SignalFn: s.signal, AwaitFn: s.await, ConversationFn: s.read, TreeFn: s.readTree,
		DecideFn: s.decide, DecisionFn: s.decision, ApprovalFn: s.approval,
	}
}

func (s *script) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// write changes the conversation.
func (s *script) write(f func(*contract.ConversationView)) contract.ConversationView {
	var now contract.ConversationView
	s.do(func() { s.change(f); now = s.view })
	return now
}

func (s *script) change(f func(*contract.ConversationView)) {
	v := s.view
	v.Transcript.Tail = slices.Clone(v.Transcript.Tail)
	v.Pending = slices.Clone(v.Pending)
	v.Version++
	f(&v)
	s.view = v
}

func (s *script) start(in service.StartInput) (out service.StartResult, err error) {
	s.do(func() {
		if out.Existed = s.exists; !s.exists {
			s.exists = true
			s.view.ID, s.view.ContextID = in.Conversation.ID, in.Conversation.ContextID
			s.view.Task, s.view.Chain = in.Conversation.Task, in.Conversation.Chain
			s.started = in.Conversation
			s.message(*in.Conversation.First)
		}
	})
	return out, nil
}

func (s *script) signal(_, _ string, payload any) (err error) {
	s.do(func() {
		if s.view.Status == contract.StatusCompleted {
			err = service.Errorf(contract.KindCompleted, "completed")
			return
		}
		switch in := payload.(type) {
		case contract.MessageSignal:
			s.message(in)
		case contract.CancelSignal:
			s.end(in.RequestID, "Cancelled.", contract.OutcomeCancelled)
		}
	})
	return err
}

func (s *script) message(m contract.MessageSignal) {
	if slices.ContainsFunc(s.sent, func(o contract.MessageSignal) bool { return o.RequestID == m.RequestID }) {
		return
	}
	s.sent = append(s.sent, m)
	if len(s.view.Pending) > 0 && !s.view.Pending[0].Question() {
		s.settled[m.RequestID] = contract.Request{ID: m.RequestID, Settled: true, Refused: contract.KindWaiting}
		return
	}
	if s.onMessage != nil {
		s.onMessage(m)
	}
}

// answer plays a whole turn at once.
func (s *script) answer(m contract.MessageSignal) {
	s.begin(m)
	s.finish(m, "answer to "+m.Text.Inline[m.Preface:])
}

func (s *script) begin(m contract.MessageSignal) {
	s.change(func(v *contract.ConversationView) {
		v.Running = true
		v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{
			ID: s.id(), Role: contract.RoleUser, Content: m.Text, Preface: m.Preface, DraftID: m.Name, Echo: m.Echo, CreatedAt: epoch,
		})
	})
}

func (s *script) finish(m contract.MessageSignal, text string) {
	s.change(func(v *contract.ConversationView) {
		v.Running = false
		v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{
			ID: s.id(), Role: contract.RoleAssistant, Content: contract.Inline(text), DraftID: "draft-" + m.Name, Reply: "r" + s.id(), CreatedAt: epoch,
		})
	})
	s.settled[m.RequestID] = contract.Request{ID: m.RequestID, Settled: true, Fingerprint: m.Fingerprint, Result: &contract.Result{Response: contract.Inline(text)}}
}

// end ends a turn, and the conversation if it is a task.
func (s *script) end(requestID, text string, o contract.Outcome) {
	s.change(func(v *contract.ConversationView) {
		v.Running, v.Pending = false, nil
		v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{
			ID: s.id(), Role: contract.RoleAssistant, Content: contract.Inline(text), CreatedAt: epoch,
		})
		v.Last = &contract.LastTurn{Turn: 1, Outcome: o, Response: contract.Inline(text)}
		if v.Status = contract.StatusActive; v.Task {
			v.Status = contract.StatusCompleted
		}
	})
	s.settled[requestID] = contract.Request{ID: requestID, Settled: true, Result: &contract.Result{Response: contract.Inline(text)}}
}

// wait stops a turn for an approval, with the message about it.
func (s *script) wait(m contract.MessageSignal, uuid string) {
	s.ask(m, contract.PendingApproval{UUID: uuid, ToolName: "drop", ToolArgs: contract.JSON{Raw: json.RawMessage(`{"name":"all"}`)}, Description: "Drop?"})
	s.change(func(v *contract.ConversationView) {
		v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{
			ID: s.id(), Role: contract.RoleAssistant, Content: contract.Inline("Approval required " + uuid), Notice: true, ApprovalID: uuid, CreatedAt: epoch,
		})
	})
}

func (s *script) id() string { return contract.MessageID(s.view.ID, len(s.view.Transcript.Tail)) }

// ask stops the turn for the approval of a call.
func (s *script) ask(m contract.MessageSignal, p contract.PendingApproval) {
	s.change(func(v *contract.ConversationView) {
		call := contract.Message{
			ID: s.id(), Role: contract.RoleAssistant, DraftID: "call-" + p.UUID, Reply: "q" + s.id(), CreatedAt: epoch,
			ToolCall: &contract.ToolCall{ID: "c", Name: p.ToolName, Arguments: p.ToolArgs},
		}
		p.Call, p.ConversationID, p.CreatedAt = call.ID, v.ID, epoch
		v.Transcript.Tail = append(v.Transcript.Tail, call)
		v.Running, v.Status = false, contract.StatusWaitingApproval
		v.Pending = append(v.Pending, p)
		s.asked[p.UUID] = p
	})
	s.settled[m.RequestID] = contract.Request{ID: m.RequestID, Settled: true, Fingerprint: m.Fingerprint, Result: &contract.Result{WaitingApproval: true}}
}

func (s *script) read(id, requestID string) (contract.ConversationView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.readErr != nil {
		return contract.ConversationView{}, s.readErr
	}
	if !s.exists || id != s.view.ID {
		return contract.ConversationView{}, service.Errorf(contract.KindNotFound, "conversation not found: %s", id)
	}
	v := s.view
	if r, ok := s.settled[requestID]; ok {
		v.Request = &r
	}
	return v, nil
}

func (s *script) readTree(id string) (contract.TreeView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trees++
	if s.tree != nil {
		return *s.tree, nil
	}
	return contract.TreeView{ConversationID: id, Node: contract.Agent{Model: contract.DemoModel}.Root()}, nil
}

func (s *script) await(ctx context.Context, _ string, ids []string) (contract.AwaitResult, error) {
	for {
		s.mu.Lock()
		out := contract.AwaitResult{Conversation: s.view}
		for _, id := range ids {
			if r, ok := s.settled[id]; ok {
				out.Settled = append(out.Settled, r)
			}
		}
		changed := s.changed
		s.mu.Unlock()
		if len(out.Settled) > 0 {
			return out, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return out, fmt.Errorf("%w: %w", service.ErrAgain, ctx.Err())
		}
	}
}

func (s *script) decide(uuid string, in contract.DecideSignal) (err error) {
	s.do(func() {
		if _, ok := s.decided[uuid]; ok {
			err = service.Errorf(contract.KindDecided, "decided")
			return
		}
		if s.refuse != nil {
			if err = s.refuse(in); err != nil {
				return
			}
		}
		s.decided[uuid] = in
		s.change(func(v *contract.ConversationView) {
			v.Pending = slices.DeleteFunc(v.Pending, func(p contract.PendingApproval) bool { return p.UUID == uuid })
			record, _ := s.result(uuid)
			marker := "[APPROVAL]: Decided"
			if p := s.asked[uuid]; p.Reason == contract.ReasonClientTool {
				marker = wording.Marker(p, record)
			}
			record.Content = contract.JSON{} // as in real records
			v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{
				ID: s.id(), Role: contract.RoleUser, Content: contract.Inline(marker), Approval: &record, Notice: true, CreatedAt: epoch,
			})
			if len(v.Pending) == 0 {
				v.Status, v.Running = contract.StatusActive, true
			}
		})
		if s.onDecide != nil && len(s.view.Pending) == 0 {
			s.onDecide(uuid, in)
		}
	})
	return err
}

func (s *script) result(uuid string) (contract.ApprovalResult, bool) {
	in, ok := s.decided[uuid]
	r := contract.ApprovalResult{UUID: uuid, ConversationID: s.view.ID, Tool: s.asked[uuid].ToolName, Decision: contract.Rejected, RequestID: in.RequestID, Content: in.Content, Echo: in.Echo}
	if in.Approved {
		r.Decision = contract.Approved
	}
	return r, ok
}

func (s *script) decision(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	for {
		s.mu.Lock()
		r, ok := s.result(uuid)
		changed := s.changed
		s.mu.Unlock()
		if ok {
			return r, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

func (s *script) approval(uuid string) (contract.ApprovalView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.result(uuid)
	if !ok {
		return contract.ApprovalView{}, service.Errorf(contract.KindNotFound, "no approval")
	}
	p, ok := s.asked[uuid]
	if !ok {
		p = contract.PendingApproval{UUID: uuid, ConversationID: s.view.ID, ToolName: "add", ToolArgs: addArgs, Reason: contract.ReasonDestructive}
	}
	return contract.ApprovalView{Pending: p, Result: &r}, nil
}

// feed is a Feed through which a test publishes events.
type feed struct {
	mu       sync.Mutex
	channels map[chan contract.Event]bool
	watched  int
}

func (f *feed) Subscribe(string) (<-chan contract.Event, func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.channels == nil {
		f.channels = map[chan contract.Event]bool{}
	}
	ch := make(chan contract.Event, 1024)
	f.channels[ch] = true
	f.watched++
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.channels, ch)
	}
}

func (f *feed) publish(n contract.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.channels {
		ch <- n
	}
}

func (f *feed) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.channels {
		delete(f.channels, ch)
		close(ch)
	}
}

// event is an event as a client reads it.
type event struct {
	id   string
	data map[string]any
}

func (e event) kind() string { return e.text("type") }

func (e event) text(key string) string {
	s, _ := e.data[key].(string)
	return s
}

func kinds(events []event) string {
	var out []string
	for _, e := range events {
		out = append(out, e.kind())
	}
	return strings.Join(out, " ")
}

// parse reads frames as the official client does.
func parse(t *testing.T, raw string) []event {
	t.Helper()
	var out []event
	for _, block := range strings.Split(strings.TrimSuffix(raw, "\n\n"), "\n\n") {
		var e event
		for _, line := range strings.Split(block, "\n") {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				e.id = id
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e.data); err != nil {
					t.Errorf("%v in %q", err, line)
				}
			}
		}
		if e.data != nil {
			out = append(out, e)
		}
	}
	return out
}

// stream is an open stream without a network.
type stream struct {
	*httptest.ResponseRecorder
	t     *testing.T
	mu    sync.Mutex
	text  strings.Builder
	stuck chan struct{} // Write waits for it
	leave context.CancelFunc
	done  chan struct{}
}

func (s *stream) Write(p []byte) (int, error) {
	if s.stuck != nil {
		<-s.stuck
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *stream) Flush() {}

func (s *stream) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *stream) events() []event { return parse(s.t, s.raw()) }

func (a *api) open(method, target, body string, headers ...string) *stream {
	return a.openStuck(nil, method, target, body, headers...)
}

func (a *api) openStuck(stuck chan struct{}, method, target, body string, headers ...string) *stream {
	a.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	s := &stream{ResponseRecorder: httptest.NewRecorder(), t: a.t, stuck: stuck, leave: leave, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		a.ServeHTTP(s, newRequest(method, target, body, headers...).WithContext(ctx))
	}()
	return s
}

// whole waits for a stream to end.
func (s *stream) whole() []event {
	s.t.Helper()
	<-s.done
	if s.Code != http.StatusOK && s.Code != http.StatusCreated {
		s.t.Fatalf("status %d: %s", s.Code, s.raw())
	}
	return s.events()
}

const eventsPath = "/conversations/" + someID + "/events"

const asEvents = "Accept: text/event-stream"

var addArgs = contract.JSON{Raw: []byte(`{"name":"disk","value":42}`)}
