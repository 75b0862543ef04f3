package recordtest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/wording"
)

// ID is the ID of every conversation.
const ID = "0e37df36-f698-11e6-8dd4-cb9ced3df976"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Conversation is a random conversation.
type Conversation struct {
	// Nodes are the nodes of the tree; none for an agent that is one node.
	Nodes []string
	Steps []Step
}

// Step is a moment of a conversation. At most one of Draft, Delta and Sent is set; if none is,
// the State has changed.
type Step struct {
	State record.State
	Draft *generation.Draft
	Delta *generation.Delta
	// Sent is the message that begins the next turn.
	Sent *contract.Message
	// Provisional marks a State with messages that will be replaced.
	Provisional bool
}

// Lasting returns the states that are not provisional, each once.
func (c *Conversation) Lasting() []record.State {
	var states []record.State
	for _, s := range c.Steps {
		if !s.Provisional && s.Draft == nil && s.Delta == nil && s.Sent == nil {
			states = append(states, s.State)
		}
	}
	return states
}

// Last returns the final state.
func (c *Conversation) Last() record.State { return c.Steps[len(c.Steps)-1].State }

// New makes a conversation of up to four turns that stays open.
func New(seed uint64) *Conversation { return newWriter(seed, false).conversation() }

// NewTask makes a task. It gets further messages while it requires the caller to log in, and is
// completed then.
func NewTask(seed uint64) *Conversation { return newWriter(seed, true).conversation() }

// writer is a conversation while it is being written.
type writer struct {
	*rand.Rand
	task     bool
	nodes    []string
	parallel bool

	earlier  []contract.Message            // of earlier turns, and the message of this turn
	branches map[string][]contract.Message // messages of this turn, by node
	pending  []contract.PendingApproval
	working  map[string]bool // nodes
	busy     bool            // a turn runs
	outcome  contract.Outcome
	response string
	last     *contract.LastTurn
	status   contract.Status

	ticks   int // source of IDs, and the time in seconds
	version int64
	steps   []Step
}

func newWriter(seed uint64, task bool) *writer {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), task: task, status: contract.StatusActive}
	switch seed % 3 {
	case 1:
		w.nodes = []string{"plan", "act", "check.it"}
	case 2:
		w.nodes, w.parallel = []string{"a", "b", "c"}, true
	}
	return w
}

func (w *writer) conversation() *Conversation {
	w.show()
	turns := 1 + w.IntN(4)
	queued := false
	for turn := 1; turn <= turns; turn++ {
		w.begin(queued)
		cancelled := w.run()
		more := turn < turns && !cancelled
		w.end(turn, more)
		if w.status == contract.StatusCompleted {
			break
		}
		if queued = !w.task && more && w.IntN(4) == 0; !queued {
			w.show()
		}
	}
	w.show()
	return &Conversation{Nodes: w.nodes, Steps: w.steps}
}

// begin begins a turn. A queued message was sent before.
func (w *writer) begin(queued bool) {
	w.branches, w.working = map[string][]contract.Message{}, map[string]bool{}
	m := contract.Message{ID: w.id("u"), CreatedAt: w.now(), Role: contract.RoleUser, Content: contract.Inline("do " + w.words())}
	if w.IntN(2) == 0 {
		m.DraftID = w.id("mine-")
	}
	if !queued {
		w.add(Step{Sent: &m})
	}
	w.earlier, w.busy = append(w.messages(), m), true
	w.show()
}

// run runs the nodes, one after the other or in parallel, and reports whether the turn was
// cancelled.
func (w *writer) run() (cancelled bool) {
	var work []func() (struct{}, bool)
	for _, node := range w.workers() {
		next, stop := iter.Pull(w.work(node))
		defer stop()
		work = append(work, next)
	}
	left := -1
	if w.IntN(5) == 0 {
		left = w.IntN(30)
	}
	for ; len(work) > 0 && left != 0; left-- {
		n := 0
		if w.parallel {
			n = w.IntN(len(work))
		}
		if _, more := work[n](); !more {
			work = slices.Delete(work, n, n+1)
		}
		w.show()
	}
	if len(work) > 0 {
		w.cancel()
	}
	return len(work) > 0
}

// workers returns the nodes that work in a turn; the name of an agent that is one node is "".
func (w *writer) workers() []string {
	if len(w.nodes) == 0 {
		return []string{""}
	}
	return w.nodes
}

func (w *writer) cancel() {
	for _, p := range w.pending {
		w.decide(p, contract.Cancelled)
	}
	w.pending = nil
	m := contract.Message{Role: contract.RoleAssistant, Content: contract.Inline(wording.TextTurnCancelled + " enough")}
	if w.IntN(2) == 0 { // else as in records without outcomes
		m.Outcome = contract.OutcomeCancelled
	}
	w.write("", m)
	w.outcome, w.response = contract.OutcomeCancelled, m.Content.Inline
	w.show()
}

// end ends a turn. A task gets another message only if it requires a login.
func (w *writer) end(turn int, more bool) {
	clear(w.working)
	login := more && (w.task || w.IntN(6) == 0)
	if login {
		w.write("", contract.Message{Role: contract.RoleAssistant, Content: contract.Inline("Log in.")})
		w.outcome, w.response = contract.OutcomeFailed, "Log in."
	}
	w.earlier, w.branches, w.busy = w.messages(), nil, false
	w.last = &contract.LastTurn{Turn: turn, Outcome: w.outcome, Response: contract.Inline(w.response), EndedAt: w.now()}
	if login {
		w.last.AuthRequired = "resources"
	} else if w.task {
		w.status = contract.StatusCompleted
	}
}

func (w *writer) messages() []contract.Message {
	all := slices.Clone(w.earlier)
	for _, node := range w.nodes {
		all = append(all, w.branches[node]...)
	}
	return append(all, w.branches[""]...)
}

// write writes a message of a node.
func (w *writer) write(node string, m contract.Message) contract.Message {
	m.ID, m.CreatedAt = w.id("m"), w.now()
	if m.Role != contract.RoleUser || m.Notice {
		m.Node = node
	}
	w.branches[node] = append(w.branches[node], m)
	return m
}

func (w *writer) id(prefix string) string { w.ticks++; return fmt.Sprintf("%s%d", prefix, w.ticks) }

func (w *writer) now() time.Time { return noon.Add(time.Duration(w.ticks) * time.Second) }

func (w *writer) words() string {
	words := []string{"one", "two", "three", "vier", "fünf", "日本", "<b>", "\"x\""}
	var said []string
	for range 1 + w.IntN(4) {
		said = append(said, words[w.IntN(len(words))])
	}
	return strings.Join(said, " ")
}

// show adds a step with the new state.
func (w *writer) show() { w.steps = append(w.steps, Step{State: w.state()}) }

// add adds a step that does not change the state.
func (w *writer) add(s Step) {
	s.State = w.steps[len(w.steps)-1].State
	w.steps = append(w.steps, s)
}

func (w *writer) state() record.State {
	w.version++
	status := w.status
	if len(w.pending) > 0 {
		status = contract.StatusWaitingApproval
	}
	messages, pending, running := w.messages(), slices.Clone(w.pending), w.busy && len(w.pending) == 0
	usage := contract.Usage{InputTokens: int64(len(messages))}
	s := record.State{
		View: contract.ConversationView{
			ID: ID, ContextID: "context-1", Status: status, Transcript: contract.Transcript{Tail: messages},
			Pending: pending, Running: running, Usage: usage, UpdatedAt: w.now(), Version: w.version, Task: w.task, Last: w.last,
		},
		Messages: messages, Tree: w.tree(), Running: running,
	}
	s.Document = document.Conversation{
		ID: ID, Status: status, PendingApprovals: pending, Running: running, UpdatedAt: w.now(), Version: w.version,
		Usage: document.Usage{InputTokens: usage.InputTokens},
	}
	if w.last != nil {
		s.Response = w.last.Response.Inline
	}
	return s.WithMemo()
}

func (w *writer) tree() *document.Tree {
	if len(w.nodes) == 0 {
		return nil
	}
	root := document.Node{Name: "root", Status: contract.NodePending, Path: []int{}}
	if w.busy {
		root.Status = contract.NodeRunning
	}
	for n, name := range w.nodes {
		leaf := document.Node{Name: name, Status: contract.NodeDone, Path: []int{n}}
		if w.working[name] {
			leaf.Status = contract.NodeRunning
		}
		root.Agents = append(root.Agents, leaf)
	}
	return &document.Tree{Tree: root}
}
