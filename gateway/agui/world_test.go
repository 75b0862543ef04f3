package agui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/wording"
)

// world is a conversation that lives: turns at random, as the workflows write them.
type world struct {
	*rand.Rand
	nodes    []string // of the tree; none for an agent that is one node
	parallel bool
	base     []contract.Message
	branches map[string][]contract.Message
	pending  []contract.PendingApproval
	running  map[string]bool
	busy     bool
	seq      int
	queued   bool
	script   []scene
}

// scene is what happens at a time: a piece of news, or another state.
type scene struct {
	draft *contract.Draft
	delta *contract.Delta
	state State
	mine  *contract.Message // the message that begins a turn
}

func (w *world) id(what string) string { w.seq++; return fmt.Sprintf("%s%d", what, w.seq) }

func (w *world) messages() []contract.Message {
	all := slices.Clone(w.base)
	for _, node := range w.nodes {
		all = append(all, w.branches[node]...)
	}
	return append(all, w.branches[""]...)
}

func (w *world) state() State {
	st := State{Messages: w.messages(), Running: w.busy && len(w.pending) == 0}
	st.Document.Status = contract.StatusActive
	st.Document.PendingApprovals = slices.Clone(w.pending)
	st.Document.Usage.InputTokens = int64(len(st.Messages))
	if len(w.pending) > 0 {
		st.Document.Status = contract.StatusWaitingApproval
	}
	if len(w.nodes) > 0 {
		root := document.Node{Name: "root", Status: contract.NodePending, Path: []int{}}
		if w.busy {
			root.Status = contract.NodeRunning
		}
		for n, name := range w.nodes {
			leaf := document.Node{Name: name, Status: contract.NodeDone, Path: []int{n}}
			if w.running[name] {
				leaf.Status = contract.NodeRunning
			}
			root.Agents = append(root.Agents, leaf)
		}
		st.Tree = &document.Tree{Tree: root}
	}
	return st.WithMemo()
}

func (w *world) show() { w.script = append(w.script, scene{state: w.state()}) }

func (w *world) write(node string, m contract.Message) contract.Message {
	m.ID, m.CreatedAt = w.id("m"), time.Unix(int64(w.seq), 0).UTC()
	if m.Role != contract.RoleUser || m.Notice {
		m.Node = node
	}
	w.branches[node] = append(w.branches[node], m)
	return m
}

// run plays turns one after the other; those of queued ones follow at once.
func (w *world) run(turns int) {
	w.show()
	for range turns {
		w.branches, w.running = map[string][]contract.Message{}, map[string]bool{}
		q := contract.Message{ID: w.id("u"), Role: contract.RoleUser, Content: contract.Inline("do " + w.text())}
		if w.IntN(2) == 0 {
			q.Draft = w.id("mine-")
		}
		if !w.queued {
			w.script = append(w.script, scene{state: w.state(), mine: &q})
		}
		w.base, w.busy = append(w.base, q), true
		w.show()
		w.turn()
		w.base, w.branches, w.busy = w.messages(), nil, false
		if w.queued = w.IntN(4) == 0; !w.queued {
			w.show()
		}
	}
	w.queued = false
	w.show()
}

func (w *world) turn() {
	threads := [][]func(){}
	for _, node := range w.nodes {
		threads = append(threads, w.leaf(node))
	}
	if len(w.nodes) == 0 {
		threads = append(threads, w.leaf(""))
	}
	if !w.parallel {
		threads = [][]func(){slices.Concat(threads...)}
	}
	cancel := -1
	if w.IntN(5) == 0 {
		cancel = w.IntN(30)
	}
	for steps := 0; len(threads) > 0 && steps != cancel; steps++ {
		n := w.IntN(len(threads))
		threads[n][0]()
		if threads[n] = threads[n][1:]; len(threads[n]) == 0 {
			threads = slices.Delete(threads, n, n+1)
		}
		w.show()
	}
	clear(w.running)
	if len(threads) > 0 {
		for _, p := range w.pending {
			w.decide(p, contract.Cancelled)
		}
		w.pending = nil
		end := contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(wording.TextTurnCancelled + " enough")}
		if w.IntN(2) == 0 {
			end.Outcome = contract.OutcomeCancelled
		}
		w.write("", end)
	}
}

// leaf is what a node does, step by step.
func (w *world) leaf(node string) []func() {
	steps := []func(){func() { w.running[node] = true }}
	stopped := false
	add := func(f func()) {
		steps = append(steps, func() {
			if !stopped {
				f()
			}
		})
	}
	for range w.IntN(3) {
		w.round(node, add, &stopped)
	}
	var draft, text string
	add(func() { draft, text = w.id("d"), w.text() })
	w.drafting(&draft, node, &text, nil, add)
	add(func() {
		m := contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(w.signed(node, text)), Draft: draft}
		if w.IntN(6) == 0 { // the model failed
			m.Content, m.Draft = contract.Inline(w.signed(node, "the model failed")), ""
		}
		w.write(node, m)
		delete(w.running, node)
	})
	return steps
}

func (w *world) signed(node, text string) string {
	if node == "" {
		return text
	}
	return "[" + node + "] " + text
}

func (w *world) text() string {
	words := []string{"one", "two", "three", "vier", "fünf", "日本", "<b>", "\"x\""}
	var said []string
	for range 1 + w.IntN(4) {
		said = append(said, words[w.IntN(len(words))])
	}
	return strings.Join(said, " ")
}

// round is a reply with calls, and their results; or one that was in vain.
func (w *world) round(node string, add func(func()), stopped *bool) {
	var draft, text string
	calls := make([]contract.ToolCall, w.IntN(4))
	add(func() {
		draft, text = w.id("d"), ""
		if len(calls) == 0 || w.IntN(2) == 0 {
			text = w.text()
		}
		for n := range calls {
			calls[n] = contract.ToolCall{ID: fmt.Sprint("p", n), Name: []string{"add", "list"}[w.IntN(2)]}
			calls[n].Arguments.Raw = fmt.Appendf(nil, `{"a": %d, "b":"x y"}`, w.IntN(10))
		}
	})
	w.drafting(&draft, node, &text, calls, add)
	add(func() {
		switch {
		case len(calls) > 0:
			w.record(node, draft, text, calls)
		case w.IntN(2) == 0: // it did not fit its schema
			w.write(node, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(w.signed(node, "mend")), Draft: draft, Notice: true})
		default: // another model is asked
			w.write(node, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(w.signed(node, "fell back")), Notice: true})
		}
	})
	if len(calls) == 0 {
		return
	}
	var asked *contract.PendingApproval
	add(func() { asked = w.ask(node) })
	add(func() {
		if asked != nil && !w.decided(asked.UUID) {
			d := contract.Approved
			if w.IntN(3) == 0 {
				d = contract.Rejected
			}
			w.pending = slices.DeleteFunc(w.pending, func(p contract.PendingApproval) bool { return p.UUID == asked.UUID })
			w.decide(*asked, d)
			if d == contract.Rejected && asked.Reason != contract.ReasonClientTool {
				w.write(node, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(w.signed(node, "Operation cancelled by user."))})
				*stopped = true
				delete(w.running, node)
			}
		}
	})
	add(func() { w.answer(node, calls) })
}

func (w *world) decided(uuid string) bool {
	return slices.ContainsFunc(w.messages(), func(m contract.Message) bool { return m.Approval != nil && m.Approval.UUID == uuid })
}

func (w *world) record(node, draft, text string, calls []contract.ToolCall) {
	reply := w.id("r")
	if text != "" {
		w.write(node, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(text), Reply: reply, Draft: draft})
		draft = ""
	}
	for _, c := range calls {
		if w.IntN(5) == 0 { // coerced
			c.Arguments.Raw = []byte(`{"a": "other"}`)
		}
		w.write(node, contract.Message{Role: contract.RoleAssistant, Reply: reply, Draft: draft, ToolCall: &c})
		draft = ""
	}
}

func (w *world) answer(node string, calls []contract.ToolCall) {
	said := w.branches[node]
	reply := ""
	var asked []string
	for _, m := range said {
		if m.Reply != "" && m.Role == contract.RoleAssistant {
			if m.Reply != reply {
				asked = nil
			}
			reply = m.Reply
		}
		if m.ToolCall != nil {
			asked = append(asked, m.ID)
		}
	}
	old := w.IntN(2) == 0 // of a time when results did not say of which call they are
	for n, c := range calls {
		c.Arguments.Raw, c.Result, c.IsError = nil, contract.Inline(w.text()), w.IntN(3) == 0
		m := contract.Message{Role: contract.RoleTool, Reply: reply, ToolCall: &c}
		if !old {
			m.ResultOf = asked[n]
		}
		w.write(node, m)
	}
}

// ask asks for an approval of the last call of a node, sometimes.
func (w *world) ask(node string) *contract.PendingApproval {
	if w.IntN(2) == 0 {
		return nil
	}
	last := w.branches[node][len(w.branches[node])-1]
	p := contract.PendingApproval{
		UUID: w.id("uuid"), ToolName: last.ToolCall.Name, ToolArgs: last.ToolCall.Arguments, Node: node, Description: "may I?",
		Reason: []contract.Reason{contract.ReasonDestructive, contract.ReasonClientTool, contract.ReasonLimit}[w.IntN(3)],
	}
	if w.IntN(2) == 0 {
		p.Call = last.ID
	}
	w.write(node, contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(w.signed(node, "may I?")), Notice: true, ApprovalID: p.UUID})
	w.pending = append(w.pending, p)
	return &p
}

func (w *world) decide(p contract.PendingApproval, d contract.Decision) {
	w.write(p.Node, contract.Message{
		Role: contract.RoleUser, Content: contract.Inline("[APPROVAL]: " + string(d)), Notice: true,
		Approval: &contract.ApprovalResult{UUID: p.UUID, Decision: d, Tool: p.ToolName},
	})
}

// drafting is a reply while it is made, in one attempt or two.
func (w *world) drafting(draft *string, node string, text *string, calls []contract.ToolCall, add func(func())) {
	attempts := 1 + w.IntN(5)/4
	for n := range attempts {
		add(func() {
			w.script = append(w.script, scene{draft: &contract.Draft{Name: *draft, Node: node, Attempt: n + 1}})
		})
		last := n == attempts-1
		if w.IntN(3) == 0 {
			add(func() { w.tell(contract.Delta{Draft: *draft, Kind: contract.DeltaReasoning, Text: "hm " + w.text()}) })
		}
		add(func() {
			said := *text
			if !last && w.IntN(2) == 0 {
				said = w.text()
			}
			for _, piece := range w.cut(said, last) {
				w.tell(contract.Delta{Draft: *draft, Kind: contract.DeltaText, Text: piece})
			}
		})
		for i := range calls {
			add(func() {
				w.tell(contract.Delta{Draft: *draft, Kind: contract.DeltaCall, Call: i, Tool: calls[i].Name})
				for _, piece := range w.cut(string(calls[i].Arguments.Raw), last) {
					w.tell(contract.Delta{Draft: *draft, Kind: contract.DeltaArguments, Call: i, Text: piece})
				}
			})
		}
	}
}

func (w *world) tell(d contract.Delta) { w.script = append(w.script, scene{delta: &d}) }

// cut is a text in pieces; all of them, or only the first.
func (w *world) cut(s string, all bool) []string {
	var pieces []string
	for s != "" {
		n := 1 + w.IntN(len(s))
		pieces, s = append(pieces, s[:n]), s[n:]
		if !all && w.IntN(3) == 0 {
			break
		}
	}
	return pieces
}
