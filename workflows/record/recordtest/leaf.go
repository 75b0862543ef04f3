package recordtest

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// leaf is a node at work on a turn.
type leaf struct {
	*writer
	node    string
	yield   func(struct{}) bool
	stopped bool // the turn was cancelled
}

// work yields after each step of a node in a turn.
func (w *writer) work(node string) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		l := &leaf{writer: w, node: node, yield: yield}
		l.step(func() { l.working[node] = true })
		for range l.IntN(3) {
			if !l.modelCall() {
				return
			}
		}
		l.finish()
	}
}

// step does something that readers see before the next step.
func (l *leaf) step(do func()) {
	if !l.stopped {
		do()
		l.stopped = !l.yield(struct{}{})
	}
}

// reply is a reply of the model.
type reply struct {
	draft, text string
	calls       []contract.ToolCall
}

// finish writes the reply that ends the node.
func (l *leaf) finish() {
	r := reply{draft: l.id("d"), text: l.words()}
	l.makeDraft(r)
	if l.IntN(10) == 0 {
		l.repeat(func() { l.write(l.node, l.finalMessage(l.words(), r.draft)) })
	}
	l.step(func() {
		if l.IntN(6) == 0 {
			l.say("the model failed", "", contract.OutcomeFailed)
		} else {
			l.say(r.text, r.draft, contract.OutcomeDone)
		}
	})
}

// say ends the node with a text.
func (l *leaf) say(text, draft string, o contract.Outcome) {
	l.write(l.node, l.finalMessage(text, draft))
	l.outcome, l.response = o, text
	delete(l.working, l.node)
}

// finalMessage returns a text in the form of a node's output.
func (l *leaf) finalMessage(text, draft string) contract.Message {
	if l.node != "" {
		text = "[" + l.node + "] " + text
	}
	return contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text), DraftID: draft}
}

// repeat writes a message that readers see and that is lost, because its worker dies.
func (l *leaf) repeat(write func()) {
	l.step(func() {
		before := l.branches[l.node]
		write()
		l.steps = append(l.steps, Step{State: l.state(), Provisional: true})
		l.branches[l.node] = before
	})
}

// modelCall writes a reply with calls and their results, or a discarded reply. It reports
// whether the node continues.
func (l *leaf) modelCall() bool {
	r := reply{draft: l.id("d")}
	for n := range l.IntN(4) {
		call := contract.ToolCall{ID: fmt.Sprint("p", n%2), Name: []string{"add", "list"}[l.IntN(2)]}
		call.Arguments.Raw = fmt.Appendf(nil, `{"a": %d,"b":"x y"}`, l.IntN(10))
		r.calls = append(r.calls, call)
	}
	if len(r.calls) == 0 || l.IntN(2) == 0 {
		r.text = l.words()
	}
	l.makeDraft(r)
	if len(r.calls) == 0 {
		l.step(func() { l.discard(r) })
		return true
	}
	if l.IntN(10) == 0 {
		l.repeat(func() { l.record(r) })
	}
	var calls []contract.Message
	l.step(func() { calls = l.record(r) })
	if l.stopped || !l.askApproval(calls[len(calls)-1]) {
		return false
	}
	l.answer(calls)
	return true
}

// discard writes why a reply is not used: it did not match its schema, or another model is
// called.
func (l *leaf) discard(r reply) {
	m := l.finalMessage("fell back", "")
	if l.IntN(2) == 0 {
		m = l.finalMessage("mend", r.draft)
	}
	m.Notice = true
	l.write(l.node, m)
}

// record writes a reply and returns its calls.
func (l *leaf) record(r reply) []contract.Message {
	id, draft := l.id("r"), r.draft
	if r.text != "" {
		l.write(l.node, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(r.text), Reply: id, DraftID: draft})
		draft = ""
	}
	var calls []contract.Message
	for _, c := range r.calls {
		if c.Arguments.Raw = bytes.ReplaceAll(c.Arguments.Raw, []byte(": "), []byte(":")); l.IntN(5) == 0 { // the arguments were corrected
			c.Arguments.Raw = []byte(`{"a":"other"}`)
		}
		calls = append(calls, l.write(l.node, contract.Message{Role: contract.RoleAssistant, Reply: id, DraftID: draft, ToolCall: &c}))
		draft = ""
	}
	return calls
}

// askApproval sometimes asks for an approval of a call. It reports whether the node continues.
func (l *leaf) askApproval(call contract.Message) bool {
	if l.IntN(2) == 0 {
		return true
	}
	p := contract.PendingApproval{
		UUID: l.id("uuid"), ToolName: call.ToolCall.Name, ToolArgs: call.ToolCall.Arguments, Node: l.node, Description: "may I?",
		Reason: []contract.Reason{contract.ReasonDestructive, contract.ReasonClientTool, contract.ReasonLimit}[l.IntN(3)],
	}
	if l.IntN(2) == 0 {
		p.Call = call.ID
	}
	l.step(func() {
		m := l.finalMessage("may I?", "")
		m.Notice, m.ApprovalID = true, p.UUID
		l.write(l.node, m)
		l.pending = append(l.pending, p)
	})
	rejected := l.IntN(3) == 0
	l.step(func() {
		l.pending = slices.DeleteFunc(l.pending, func(o contract.PendingApproval) bool { return o.UUID == p.UUID })
		if !rejected {
			l.decide(p, contract.Approved)
			return
		}
		l.decide(p, contract.Rejected)
		if p.Reason != contract.ReasonClientTool {
			l.say("Operation cancelled by user.", "", contract.OutcomeRejected)
		}
	})
	return !rejected || p.Reason == contract.ReasonClientTool
}

func (w *writer) decide(p contract.PendingApproval, d contract.Decision) {
	w.write(p.Node, contract.Message{
		Role: contract.RoleUser, Content: contract.Inline("[APPROVAL]: " + string(d)), Notice: true,
		Approval: &contract.ApprovalResult{UUID: p.UUID, Decision: d, Tool: p.ToolName},
	})
}

// answer writes the results of calls in any order; some calls get none.
func (l *leaf) answer(calls []contract.Message) {
	old := l.IntN(2) == 0 // as in records without ResultOf
	for _, n := range l.Perm(len(calls)) {
		if l.IntN(8) == 0 {
			continue
		}
		l.step(func() {
			c := *calls[n].ToolCall
			c.Arguments.Raw, c.Result, c.IsError = nil, contract.Inline(l.words()), l.IntN(3) == 0
			m := contract.Message{Role: contract.RoleTool, Reply: calls[n].Reply, ToolCall: &c}
			if !old {
				m.ResultOf = calls[n].ID
			}
			l.write(l.node, m)
		})
	}
}
