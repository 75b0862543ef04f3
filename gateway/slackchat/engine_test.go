package slackchat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/later"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record/transcript"
)

// engine is a durable side in memory. It outlives gateways. Its agent answers a text with what
// reply returns; "delete X" asks for an approval first, "hang" runs until it is cancelled.
type engine struct {
	service.Backend

	mu        sync.Mutex
	changed   chan struct{}
	talks     map[string]*conversation
	approvals map[string]*contract.ApprovalView
	arguments string
	edit      []string // what may be changed
	reply     func(text string) string
	messages  int // that were taken
	later     []string
	cancelled []contract.CancelSignal
	refuses   string       // the rule that ends what is approved
	before    func() error // Start, if it is not nil
}

type conversation struct {
	view     contract.ConversationView
	requests map[string]bool // true: settled
}

func newEngine() *engine {
	return &engine{changed: make(chan struct{}), talks: map[string]*conversation{}, approvals: map[string]*contract.ApprovalView{}, arguments: `{"name":"db-1"}`, reply: func(text string) string { return "You said: " + text }}
}

type noBlobs struct{ transcript.Store }

func (e *engine) change() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// waitFor waits until f returns true. f holds the lock.
func (e *engine) waitFor(ctx context.Context, f func() bool) error {
	for {
		e.mu.Lock()
		changed, ok := e.changed, f()
		e.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (e *engine) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	if e.before != nil {
		if err := e.before(); err != nil {
			return service.StartResult{}, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.talks[in.Conversation.ID] != nil {
		return service.StartResult{Existed: true, CreatedAt: in.CreatedAt}, nil
	}
	c := &conversation{requests: map[string]bool{}, view: contract.ConversationView{
		ID: in.Conversation.ID, SessionID: in.Conversation.SessionID, Owner: in.Conversation.Owner, Status: contract.StatusActive, CreatedAt: in.CreatedAt, UpdatedAt: in.CreatedAt,
	}}
	e.talks[in.Conversation.ID] = c
	e.take(c, *in.Conversation.First)
	return service.StartResult{}, nil
}

func (c *conversation) add(m contract.Message) {
	m.CreatedAt = time.Now()
	if m.ID == "" {
		m.ID = fmt.Sprintf("m%d", len(c.view.Transcript.Tail))
	}
	c.view.Transcript.Tail = append(slices.Clone(c.view.Transcript.Tail), m)
	c.view.Version++
}

func (c *conversation) say(text string) {
	c.add(contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text)})
}

// take runs a turn. The caller holds the lock.
func (e *engine) take(c *conversation, m contract.MessageSignal) {
	if _, known := c.requests[m.RequestID]; known {
		return
	}
	e.messages++
	text := m.Text.Short()
	c.requests[m.RequestID] = false
	c.view.Running = true
	c.add(contract.Message{ID: m.RequestID, Role: contract.RoleUser, Content: m.Text, DraftID: m.Name})
	switch {
	case strings.HasPrefix(text, "hang"):
		e.change()
		return
	case strings.HasPrefix(text, "delete"):
		c.say("I will delete it.")
		e.ask(c)
	default:
		c.say(e.reply(text))
		c.view.Running = false
	}
	c.requests[m.RequestID] = true
	c.view.Version++
	e.change()
}

// ask opens an approval. The caller holds the lock.
func (e *engine) ask(c *conversation) {
	id := contract.NameUUID(c.view.ID, fmt.Sprint(len(e.approvals)))
	expires := time.Now().Add(time.Hour)
	p := contract.PendingApproval{
		UUID: id, ConversationID: c.view.ID, ToolName: "resources_remove", Server: "resources", AgentName: "helper", ToolArgs: contract.JSON{Raw: json.RawMessage(e.arguments)},
		Description: "Remove it <!channel>", Reason: contract.ReasonDestructive, Because: contract.GroundAnnotation, CreatedAt: time.Now(), ExpiresAt: &expires, Requester: c.view.Owner.Name(), Approvers: []string{"group:ops", "scope:approve:all"}, Edit: e.edit,
	}
	e.approvals[id] = &contract.ApprovalView{Pending: p}
	c.view.Pending, c.view.Running, c.view.Status = append(c.view.Pending, p), false, contract.StatusWaitingApproval
	c.view.Version++
	e.change()
}

func (e *engine) find(id string) (*conversation, error) {
	if c := e.talks[id]; c != nil {
		return c, nil
	}
	return nil, service.NoConversation(id)
}

func (e *engine) Signal(_ context.Context, id, signal string, payload any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.find(id)
	if err != nil {
		return err
	}
	switch in := payload.(type) {
	case contract.MessageSignal:
		e.take(c, in)
	case contract.CancelSignal:
		e.cancelled = append(e.cancelled, in)
		c.say("The turn was stopped.")
		c.view.Running = false
		for id := range c.requests {
			c.requests[id] = true
		}
		c.view.Version++
		e.change()
	}
	return nil
}

func (e *engine) Admit(_ context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.find(id)
	if err != nil {
		return contract.ConversationView{}, err
	}
	v := c.view
	if settled, known := c.requests[q.RequestID]; known {
		v.Request = &contract.Request{ID: q.RequestID, Settled: settled}
	} else if q.Signal == contract.SignalMessage && len(v.Pending) > 0 {
		v.Request = &contract.Request{ID: q.RequestID, Settled: true, Refused: contract.KindWaiting, Predicted: true}
	}
	return v, nil
}

func (e *engine) Await(ctx context.Context, id string, ids []string) (out contract.AwaitResult, err error) {
	err = e.waitFor(ctx, func() bool {
		c := e.talks[id]
		if c == nil {
			return false
		}
		out = contract.AwaitResult{Conversation: c.view}
		for _, r := range ids {
			if c.requests[r] {
				out.Settled = append(out.Settled, contract.Request{ID: r, Settled: true})
			}
		}
		return len(out.Settled) > 0
	})
	return out, err
}

func (e *engine) Conversation(_ context.Context, id, _ string) (contract.ConversationView, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.find(id)
	if err != nil {
		return contract.ConversationView{}, err
	}
	return c.view, nil
}

func (e *engine) Tree(context.Context, string) (contract.TreeView, error) {
	return contract.TreeView{}, service.Errorf(service.KindUnavailable, "no tree")
}

func (e *engine) Owner(_ context.Context, id string) (service.Owner, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, err := e.find(id)
	if err != nil {
		return service.Owner{}, err
	}
	return service.OwnerOf(c.view.Owner), nil
}

func (e *engine) Approval(_ context.Context, uuid string) (contract.ApprovalView, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.approvals[uuid]; a != nil {
		return *a, nil
	}
	return contract.ApprovalView{}, service.NoApproval(uuid)
}

func (e *engine) Subject(_ context.Context, uuid string) (service.Subject, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.approvals[uuid]
	if a == nil {
		return service.Subject{}, service.NoApproval(uuid)
	}
	owner := e.talks[a.Pending.ConversationID].view.Owner
	return service.Subject{ConversationID: a.Pending.ConversationID, Owner: service.OwnerOf(owner), Approvers: a.Pending.Approvers}, nil
}

func (e *engine) Decide(_ context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	decision := contract.Rejected
	if in.Approved {
		decision = contract.Approved
	}
	e.mu.Lock()
	rule := e.refuses
	e.mu.Unlock()
	if rule != "" && in.Approved {
		if _, err := e.end(uuid, contract.ApprovalResult{Decision: contract.Rejected, Via: verdict.Via, Reason: rule}); err != nil {
			return nil, err
		}
		return nil, service.Errorf(contract.KindForbidden, "%s", rule)
	}
	r := contract.ApprovalResult{Decision: decision, By: in.By, Reason: in.Reason, Via: in.Via, RequestID: in.RequestID, Identity: in.Identity}
	if len(in.Edit) > 0 {
		r.Revision = &contract.Revision{Changes: []edit.Change{{Name: "name", After: "secret"}}, Edit: contract.Hash(edit.Canonical(in.Edit))}
	}
	return e.end(uuid, r)
}

func (e *engine) Catalogue(context.Context) (contract.Catalogue, error) {
	return contract.Catalogue{}, nil
}

// end ends an approval, and lets the conversation go on.
func (e *engine) end(uuid string, r contract.ApprovalResult) (*contract.ApprovalResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.approvals[uuid]
	switch {
	case a == nil:
		return nil, service.NoApproval(uuid)
	case a.Result != nil:
		return nil, service.Errorf(contract.KindDecided, "%s", service.AlreadyDecided(*a.Result))
	}
	r.UUID, r.ConversationID, r.Tool, r.DecidedAt = uuid, a.Pending.ConversationID, a.Pending.ToolName, time.Now()
	a.Result = &r
	c := e.talks[r.ConversationID]
	c.view.Pending = slices.DeleteFunc(slices.Clone(c.view.Pending), func(p contract.PendingApproval) bool { return p.UUID == uuid })
	c.view.Status = contract.StatusActive
	c.add(contract.Message{Role: contract.RoleUser, Notice: true, Content: contract.Inline(string(r.Decision)), Approval: &r})
	c.say(map[contract.Decision]string{contract.Approved: "It is deleted.", contract.Rejected: "I have left it: " + r.Reason}[r.Decision] + " ")
	e.change()
	return &r, nil
}

func (e *engine) Decision(ctx context.Context, uuid string) (r contract.ApprovalResult, err error) {
	err = e.waitFor(ctx, func() bool {
		a := e.approvals[uuid]
		if a == nil || a.Result == nil {
			return false
		}
		r = *a.Result
		return true
	})
	return r, err
}

func (e *engine) Later(_ context.Context, uuid string, d later.Deferral) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.approvals[uuid].Result != nil {
		return service.Errorf(contract.KindDecided, "decided")
	}
	e.later = append(e.later, uuid)
	e.change()
	return nil
}

func (e *engine) Waiting(context.Context, service.ListQuery) (page service.Page[service.WaitingItem], _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.talks {
		for _, p := range c.view.Pending {
			page.Items = append(page.Items, service.WaitingItem{UUID: p.UUID, ConversationID: c.view.ID, SessionID: c.view.SessionID, ToolName: p.ToolName, CreatedAt: p.CreatedAt, Card: contract.Card{Reason: p.Reason, Arguments: p.ToolArgs}, Owner: service.OwnerOf(c.view.Owner), Approvers: p.Approvers})
		}
	}
	return page, nil
}

func (e *engine) List(_ context.Context, q service.ListQuery) (page service.Page[service.Item], _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.talks {
		if q.Status == "" || q.Status == c.view.Status {
			page.Items = append(page.Items, service.Item{ID: c.view.ID, SessionID: c.view.SessionID, Status: c.view.Status, CreatedAt: c.view.CreatedAt, UpdatedAt: time.Now()})
		}
	}
	return page, nil
}

func (e *engine) Deputies(context.Context) (deputies deputyState, _ error) { return deputies, nil }

func (e *engine) taken() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.messages
}
