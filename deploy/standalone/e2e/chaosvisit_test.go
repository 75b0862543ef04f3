package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/workflows/contract"
)

// visitor is a user who has a conversation and decides about its calls. Sometimes an operator
// interferes with its workflows.
type visitor struct {
	*estate
	r     *rand.Rand
	name  string
	id    string       // ID of the conversation
	said  []string     // accepted messages, in order
	hands []string     // actions of an operator
	gone  bool         // the conversation was terminated
	rest  conversation // the conversation in the end
	// floods is the number of floods. unsure is the number of their messages that may have been
	// accepted, because the gateway or its server died.
	floods, unsure int
}

// visit holds one conversation.
func (e *estate) visit(r *rand.Rand, name string) {
	v := &visitor{estate: e, r: r, name: name}
	asked := v.say("/conversations", e.plan.message(name), name)
	if v.id = conversationOf(asked); v.id == "" {
		return
	}
	e.mu.Lock()
	e.visitors = append(e.visitors, v)
	e.mu.Unlock()
	for turns := 1; time.Now().Before(e.end); {
		done := v.attend()
		switch {
		case v.gone, v.r.IntN(20) == 0: // leaves approvals undecided
			return
		case done && turns < 2 && v.r.IntN(3) == 0:
			turns++
			again := fmt.Sprintf("%s.%d", name, turns)
			v.say("/conversations/"+v.id+"/messages", e.plan.message(again), again)
		case done:
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// door is one of the gateways.
func (v *visitor) door() *api { return v.apis[v.r.IntN(len(v.apis))] }

// say sends a message, sometimes several times concurrently through several gateways. All must
// return the same conversation.
func (v *visitor) say(path, text, key string) (first reply) {
	copies := []int{1, 1, 2, 3}[v.r.IntN(4)]
	got := make([]reply, copies)
	headers := []string{"Idempotency-Key: " + key}
	if v.r.IntN(2) == 0 {
		headers = append(headers, "Prefer: respond-async")
	}
	var all sync.WaitGroup
	for i := range copies {
		a := v.door()
		all.Go(func() { got[i], _ = v.insist(a, "POST", path, messageJSON(text), headers...) })
	}
	all.Wait()
	for _, g := range got {
		if id := conversationOf(g); id != conversationOf(got[0]) {
			v.t.Errorf("%s: two conversations, %s and %s", key, g.Raw, got[0].Raw)
		}
		if g.Status < 300 && !slices.Contains(v.said, text) {
			v.said = append(v.said, text)
		}
	}
	return got[0]
}

// attend reads the conversation, decides its pending approvals, and reports whether the
// conversation is at rest.
func (v *visitor) attend() (done bool) {
	c, ok := v.read()
	if !ok {
		return false
	}
	if len(c.PendingApprovals) > 0 && v.r.IntN(8) == 0 {
		v.pester(c)
	}
	for _, i := range v.r.Perm(len(c.PendingApprovals)) {
		v.decide(c.PendingApprovals[i])
		if v.r.IntN(3) == 0 { // the others stay pending for now
			break
		}
	}
	if len(v.hands) < 2 && v.r.IntN(25) == 0 {
		v.layHands()
	}
	return len(c.PendingApprovals) == 0 && v.rests(c)
}

// read returns the conversation as its workflow reports it.
func (v *visitor) read() (conversation, bool) {
	got, ok := v.insist(v.door(), "GET", "/conversations/"+v.id+"?include=messages", "")
	c := got.Body.Conversation
	return c, ok && c.ID == v.id && c.AsOf.IsZero()
}

// rests reports whether every message has had its turn, and the last turn has ended.
func (v *visitor) rests(c conversation) bool {
	if c.Status == "completed" {
		return true
	}
	for _, text := range v.said {
		if v.times(c, text) == 0 {
			return false
		}
	}
	got, ok := v.insist(v.door(), "GET", "/conversations/"+v.id+"/tree", "")
	if !ok || got.Status != http.StatusOK {
		return false
	}
	switch rootStatus(got.Raw) {
	case "pending", "running", "waiting", "":
		return false
	}
	return c.Status == "active"
}

func (v *visitor) times(c conversation, text string) (n int) {
	for _, m := range c.Messages {
		if m.Role == "user" && m.Content == text {
			n++
		}
	}
	return n
}

// decide sends up to three concurrent decisions, through several gateways.
func (v *visitor) decide(p approval) {
	var votes sync.WaitGroup
	for range []int{1, 1, 2, 3}[v.r.IntN(4)] {
		a, answer := v.door(), v.answer(p)
		votes.Go(func() {
			if r, _ := v.insist(a, "POST", "/approvals/"+p.UUID, answer); r.Status == http.StatusBadRequest {
				v.t.Errorf("%s: %s is no answer to %s: %s", v.name, answer, p.Description, r.Raw)
			}
		})
	}
	votes.Wait()
}

// answer draws a decision. For a call of unknown outcome it answers that it ran, if it did.
func (v *visitor) answer(p approval) string {
	name := nameIn(string(p.ToolArgs) + string(p.Origin.Arguments))
	ran := v.tools.counts()[name]+v.far.tools.counts()[name] > 0
	if ran && strings.Contains(p.Description, "OUTCOME UNKNOWN") {
		return `{"answer":"ran"}`
	}
	return fmt.Sprintf(`{"approved":%t,"by":%q}`, v.r.IntN(5) > 0, v.name)
}

// pester floods a conversation that waits for decisions. The messages are refused and change
// nothing. They are refused at once, except one message after each answer of a gateway.
func (v *visitor) pester(before conversation) {
	v.floods++
	all := messagesOf(v.flood())
	tolerant := sort{"any", func(a *api, id string, n int) (reply, error) {
		r, err := all[n%len(all)].send(a, id, n)
		if err != nil { // the gateway was killed
			return reply{}, nil
		}
		return r, nil
	}}
	flood := pour(v.t, v.door(), v.id, 40, tolerant)
	v.unsure += 40 - flood[http.StatusConflict] - flood[http.StatusTooManyRequests]
	after, ok := v.read()
	if !ok || !slices.ContainsFunc(after.PendingApprovals, func(p approval) bool { return p.UUID == before.PendingApprovals[0].UUID }) {
		return
	}
	taken := 0
	for status, n := range flood {
		if status >= 200 && status < 300 {
			taken += n
		}
	}
	if taken > len(v.said)*len(v.apis) || v.times(after, v.flood()) > 0 { // after an answer a gateway sends the next message without a check
		v.t.Errorf("%s: messages to a conversation that waits were answered %v, and are there %d times", v.name, flood, v.times(after, v.flood()))
	}
}

// flood returns the text of the messages that pester sends.
func (v *visitor) flood() string { return fmt.Sprintf("%s.flood%d", v.name, v.floods) }

// layHands resets or ends the conversation or one of its workflows, or cancels the turn.
func (v *visitor) layHands() {
	if v.r.IntN(4) == 0 {
		v.hands = append(v.hands, "cancelled turn")
		v.insist(v.door(), "POST", "/conversations/"+v.id+"/cancel", `{"reason":"chaos"}`)
		return
	}
	o, hangUp := v.operator(v.home)
	defer hangUp()
	ctx, cancel := context.WithTimeout(v.t.Context(), 5*time.Second)
	defer cancel()
	workflows, err := o.open(ctx, fmt.Sprintf("%s = '%s'", contract.AttrConversationID, v.id))
	if err != nil || len(workflows) == 0 { // the server is down
		return
	}
	id := workflows[v.r.IntN(len(workflows))].GetExecution().GetWorkflowId()
	how := []string{"reset to the beginning", "reset to the last moment", "reset to the beginning", "terminate", "cancel"}[v.r.IntN(5)]
	v.hands = append(v.hands, how+" "+id)
	switch how { // the server may go down
	case "terminate":
		v.gone = v.gone || id == contract.ConversationWorkflowID(v.id)
		_ = o.TerminateWorkflow(ctx, id, "", "chaos")
	case "cancel":
		_ = o.CancelWorkflow(ctx, id, "")
	default:
		_ = o.tryReset(id, strings.HasSuffix(how, "beginning"))
	}
}

// open lists the workflows that run and fit a query.
func (o operator) open(ctx context.Context, query string) (out []*workflow.WorkflowExecutionInfo, err error) {
	return o.list(ctx, query+" AND ExecutionStatus = 'Running'")
}

func (o operator) list(ctx context.Context, query string) (out []*workflow.WorkflowExecutionInfo, err error) {
	req := &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default", Query: query}
	for {
		page, err := o.ListWorkflow(ctx, req)
		if err != nil {
			return nil, err
		}
		out = append(out, page.GetExecutions()...)
		if req.NextPageToken = page.GetNextPageToken(); len(req.NextPageToken) == 0 {
			return out, nil
		}
	}
}
