package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// scenarioRun runs a scenario in the workflow test environment.
type scenarioRun struct {
	*scenario
	t       *testing.T
	s       *session
	world   *world
	turn    int
	uuids   sync.Map // approvals by UUID
	opened  map[string]bool
	answers []string // requests with a decision
	seen    [][]string

	mu     sync.Mutex
	visits map[string]int
	steps  map[string]int // of the current run of the leaf
	models map[string][]modelCall
	calls  []string // of tools
	made   map[string]int
	keys   map[string]string // idempotency keys of calls
	taken  []pendingCall
	plain  bool
}

// pendingCall is a slow call of a model or a tool.
type pendingCall struct {
	what   string
	result any
	err    error
	bomb   int // depth, for one that fails when nothing else can run
}

func (p *scenarioRun) put(text string) contract.Text {
	stored, err := transcript.Text(context.Background(), &p.world.blobs, text)
	if err != nil {
		p.t.Error(err)
	}
	return stored
}

func (p *scenarioRun) read(text contract.Text) string {
	s, err := transcript.ReadText(context.Background(), &p.world.blobs, text)
	if err != nil {
		p.t.Error(err)
	}
	return s
}

func (p *scenarioRun) values(state contract.State) map[string]string {
	out := map[string]string{}
	for _, v := range state {
		out[v.Key] = p.read(v.Text)
	}
	return out
}

// generate is the model of all leaves.
func (p *scenarioRun) generate(ctx context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, _, _ := strings.Cut(in.Prompt.Inline, " ")
	if p.plain {
		return says("fine"), nil
	}
	said := p.render(load(p.t, p.world, in.Transcript))
	if len(said) == 0 { // the leaf begins
		p.visits[name]++
		p.steps[name] = -1
	}
	p.steps[name]++
	visit, step := p.visits[name]-1, p.steps[name]
	seen := modelCall{Values: p.values(in.Values)}
	seen.Before = append(seen.Before, said...)
	p.models[name] = append(p.models[name], seen)

	n, _ := find(p.root, name)
	a := p.act(n, visit, step)
	result, err := p.reply(in, a)
	key, now := fmt.Sprint(name, visit, step), p.turns[p.turn]
	if now.frozen[key] {
		return contract.GenerateResult{}, held
	}
	depth, bomb := now.bombs[key]
	if bomb || p.chance(p.holds, "hold", key) {
		p.taken = append(p.taken, pendingCall{what: "generate " + in.Prompt.Inline, result: result, err: err, bomb: depth})
		return contract.GenerateResult{}, held
	}
	return result, err
}

func (p *scenarioRun) reply(in contract.GenerateInput, a act) (contract.GenerateResult, error) {
	if a.fails != "" {
		return contract.GenerateResult{}, fails(contract.KindModelAuth, a.fails)
	}
	folded, err := transcript.Offload(context.Background(), &p.world.blobs, in.Transcript)
	if err != nil {
		p.t.Error(err)
	}
	out := contract.GenerateResult{Usage: a.usage, Offloaded: folded, Text: p.put(modelText(a.text, p.values(in.Values)))}
	for _, q := range a.calls {
		args := map[string]any{"name": q.id, "value": 1}
		if q.long {
			args["value"] = strings.Repeat("long ", 700)
		}
		raw, _ := json.Marshal(args)
		c := callOf(q.tool(), q.id, string(raw), q.kind == "destroys")
		if c.Arguments, err = transcript.JSON(context.Background(), &p.world.blobs, raw); err != nil {
			p.t.Error(err)
		}
		c.Exit, c.Unknown = q.kind == "exit", q.kind == "unknown"
		if q.kind == "problem" {
			c.Problem = "not so"
		}
		out.Calls = append(out.Calls, c)
	}
	return out, nil
}

func find(n contract.Node, name string) (contract.Node, []int) {
	if n.Name == name {
		return n, []int{}
	}
	for i, inside := range n.Nodes {
		if found, path := find(inside, name); path != nil {
			return found, append([]int{i}, path...)
		}
	}
	return contract.Node{}, nil
}

// callID returns the ID of the call with these arguments.
func (p *scenarioRun) callID(args contract.JSON) string {
	raw, err := transcript.ReadJSON(context.Background(), &p.world.blobs, args)
	var of struct{ Name string }
	if err = errors.Join(err, json.Unmarshal(raw, &of)); err != nil {
		p.t.Error(err)
	}
	return of.Name
}

func (p *scenarioRun) callTool(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.callID(in.Arguments)
	p.calls = append(p.calls, id)
	attempt := p.made[id]
	p.made[id]++
	if known, ok := p.keys[id]; ok && known != in.IdempotencyKey {
		p.t.Errorf("call %s has the keys %s and %s", id, known, in.IdempotencyKey)
	}
	p.keys[id] = in.IdempotencyKey
	result, err := contract.CallToolResult{Text: p.put(p.toolText(id))}, error(nil)
	switch p.fate(id, attempt, in.Destructive) {
	case callFails:
		result, err = contract.CallToolResult{}, fails(contract.KindToolFailed, "no "+id)
	case callIsLost:
		result, err = contract.CallToolResult{}, fails(contract.KindOutcomeUnknown, "lost "+id)
	}
	if p.chance(p.holds, "hold", id, attempt) {
		p.taken = append(p.taken, pendingCall{what: callName(in), result: result, err: err})
		return contract.CallToolResult{}, held
	}
	return result, err
}

// render formats messages, one line each.
func (p *scenarioRun) render(messages []contract.Message) (out []string) {
	for _, m := range messages {
		m, err := transcript.Resolve(context.Background(), &p.world.blobs, m)
		if err != nil {
			p.t.Error(err)
		}
		c, text := m.ToolCall, ""
		switch {
		case c != nil && m.Role == contract.RoleAssistant:
			text = "calls " + c.Name + " " + c.ID
		case c != nil && c.IsError:
			text = "failed " + c.ID + ": " + abbreviated(c.Result.Inline)
		case c != nil:
			text = "result " + c.ID + ": " + abbreviated(c.Result.Inline)
		case strings.HasPrefix(m.Content.Inline, "This action requires approval:"):
			_, uuid, _ := strings.Cut(m.Content.Inline, "Approval UUID: ")
			text = "asks about " + p.approvalOf(uuid)
		default:
			text = string(m.Role) + ": " + abbreviated(m.Content.Inline)
		}
		out = append(out, m.Node+" "+text)
	}
	return out
}

// play runs all turns.
func (p *scenarioRun) play(s *session) {
	var all []string
	var usage contract.Usage
	for i := range p.turns {
		if i > 0 {
			p.begin(i)
			s.say(p.answers[0], message(i))
		}
		p.runPhase()
		all = append(all, p.turns[i].said...)
		usage = usage.Add(p.turns[i].usage)
		p.check(all, usage)
		if p.t.Failed() {
			return
		}
	}
	p.mu.Lock()
	p.plain = true
	p.mu.Unlock()
	s.say("last", "and now?")
	s.rest()
	if r := s.request("last"); !r.Settled || r.Refused != "" || r.Result.WaitingApproval {
		p.t.Errorf("the next message: %+v", r)
	}
	uniqueIDs(p.t, s.messages())
}

// begin drops the state of the previous turn.
func (p *scenarioRun) begin(turn int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn, p.steps, p.models, p.keys, p.calls = turn, map[string]int{}, map[string][]modelCall{}, map[string]string{}, nil
	p.opened, p.answers, p.seen = map[string]bool{}, []string{fmt.Sprintf("r%d", turn+1)}, nil
}

func (p *scenarioRun) approvalOf(uuid string) string {
	name, _ := p.uuids.Load(uuid)
	s, _ := name.(string)
	return s
}

// runPhase decides approvals and releases calls in random order until nothing can run any more.
func (p *scenarioRun) runPhase() {
	r := p.randFor("order", p.turn)
	for range 2000 {
		p.s.sleep(time.Hour) // reports may be delayed
		moves := p.possibleMoves()
		if len(moves) == 0 {
			return
		}
		r.Shuffle(len(moves), func(i, j int) { moves[i], moves[j] = moves[j], moves[i] })
		atOnce := 1
		if r.IntN(3) == 0 {
			atOnce = 2 + r.IntN(2)
		}
		for _, move := range moves[:min(atOnce, len(moves))] {
			move()
		}
	}
	p.t.Fatal("the turn does not end")
}

// possibleMoves returns the actions that may happen next. It also checks the visible state.
func (p *scenarioRun) possibleMoves() (out []func()) {
	pending := query[[]contract.PendingApproval](p.s, contract.ConversationWorkflowID(conversationID), contract.QueryPending)
	for _, a := range pending {
		name := approval(p.callID(a.ToolArgs), a.Reason == contract.ReasonUnknownOutcome)
		p.uuids.Store(a.UUID, name)
		if !p.opened[name] {
			p.checkOpened(name, a)
		}
		p.opened[name] = true
		if !p.turns[p.turn].frozen[name] {
			out = append(out, func() { p.decide(a.UUID, name) })
		}
	}
	p.checkPause(pending)
	p.mu.Lock()
	defer p.mu.Unlock()
	deepest := -1
	for i, c := range p.taken {
		if c.bomb == 0 {
			out = append(out, func() { p.release(c) })
		} else if deepest < 0 || c.bomb > p.taken[deepest].bomb {
			deepest = i
		}
	}
	if len(out) == 0 && deepest >= 0 {
		c := p.taken[deepest]
		out = append(out, func() { p.release(c) })
	}
	return out
}

func (p *scenarioRun) decide(uuid, name string) {
	id := fmt.Sprintf("d%d-%d", p.turn, len(p.answers))
	p.answers = append(p.answers, id)
	p.s.decideOn(uuid, contract.DecideSignal{Approved: p.approved(name), RequestID: id})
}

func (p *scenarioRun) release(c pendingCall) {
	p.mu.Lock()
	p.taken = slices.DeleteFunc(p.taken, func(o pendingCall) bool { return o.what == c.what })
	p.mu.Unlock()
	result := c.result
	if c.err != nil {
		result = nil
	}
	p.s.release(c.what, result, c.err)
}

// checkOpened checks an approval that has just opened.
func (p *scenarioRun) checkOpened(name string, a contract.PendingApproval) {
	_, path := find(p.root, a.Node)
	same(p.t, "path of "+name, a.NodePath, path)
	state, known := p.turns[p.turn].approval[name]
	if !known {
		p.t.Errorf("nobody should be asked about %s", name)
	}
	if v := p.s.view(); v.Pending[0].UUID == a.UUID {
		same(p.t, "session state at "+name, p.values(v.Pipeline.State), merged(state))
	}
}

// checkPause checks the visible state while a turn is paused or has ended.
func (p *scenarioRun) checkPause(pending []contract.PendingApproval) {
	messages := p.s.messages()
	uniqueIDs(p.t, messages)
	p.seen = append(p.seen, p.render(messages))
	waiting := 0
	var walk func(s contract.NodeState)
	walk = func(s contract.NodeState) {
		if waiting += len(s.Approvals); (s.Status == contract.NodeWaiting) != (len(s.Approvals) > 0) {
			p.t.Errorf("a node is %s with %d approvals", s.Status, len(s.Approvals))
		}
		for _, inside := range s.Nodes {
			walk(inside)
		}
	}
	walk(p.s.treeState())
	same(p.t, "approvals in the tree", waiting, len(pending))
	if len(pending) > 0 {
		same(p.t, "status", p.s.view().Status, contract.StatusWaitingApproval)
	}
	small(p.t, "the exported conversation", p.world.exported())
}

// check compares the conversation with the expected outcome.
func (p *scenarioRun) check(said []string, usage contract.Usage) {
	want := p.turns[p.turn]
	messages := p.s.messages()
	got := p.render(messages)
	same(p.t, "messages", got, said)
	for _, before := range p.seen {
		if missing, ok := subsequence(before, got); !ok {
			p.t.Errorf("%q was shown while the turn ran, but is not there in its place", missing)
		}
	}
	root := p.shown(p.s.treeState())
	same(p.t, "states", root.lines(p.root, ""), want.states)
	same(p.t, "usage", p.s.view().Usage, usage)
	same(p.t, "status", p.s.view().Status, contract.StatusActive)
	p.s.nothingWaits()
	p.checkAnswers(want)

	p.mu.Lock()
	defer p.mu.Unlock()
	same(p.t, "what models saw", p.models, want.models)
	same(p.t, "tool calls", p.batched(want.batches), want.batches)
	of := map[string]string{}
	for _, m := range messages {
		if m.ToolCall != nil && m.Role == contract.RoleAssistant {
			of[m.ToolCall.ID] = m.ID
		}
	}
	for id, key := range p.keys {
		same(p.t, "idempotency key of "+id, key, of[id])
	}
	for name := range want.approval {
		if !p.opened[name] {
			p.t.Errorf("nobody was asked about %s", name)
		}
	}
}

// checkAnswers checks that all requests have their answer, and that the reply is among them
// unless all were answered with an approval that stayed open.
func (p *scenarioRun) checkAnswers(want *expected) {
	final, undecided := 0, false
	for name := range want.approval {
		undecided = undecided || want.frozen[name]
	}
	for i, id := range p.answers {
		r := p.s.request(id)
		switch {
		case r.Settled && len(p.answers)-i > contract.RememberedAnswers: // and forgotten
		case !r.Settled || r.Refused != "" || r.Result == nil:
			p.t.Errorf("request %s has no answer: %+v", id, r)
		case r.Result.WaitingApproval:
			if p.approvalOf(r.Result.Approval.UUID) == "" {
				p.t.Errorf("request %s was told of an approval that nobody saw", id)
			}
		default:
			final++
			same(p.t, "answer of "+id, p.read(r.Result.Response), want.reply)
		}
	}
	if final == 0 && !undecided {
		p.t.Error("nobody got the reply")
	}
}

func (p *scenarioRun) shown(s contract.NodeState) finalState {
	out := finalState{status: s.Status, output: p.read(s.Output), usage: s.Usage, iteration: s.Iteration}
	for _, inside := range s.Nodes {
		out.nodes = append(out.nodes, p.shown(inside))
	}
	return out
}

// batched returns the tool calls by leaf, split into batches like the expected ones. The order
// within a batch is random.
func (p *scenarioRun) batched(want map[string][][]string) map[string][][]string {
	byLeaf := map[string][]string{}
	for _, id := range p.calls {
		name, _, _ := strings.Cut(id, ".")
		byLeaf[name] = append(byLeaf[name], id)
	}
	out := map[string][][]string{}
	for name, list := range byLeaf {
		for _, batch := range want[name] {
			n := min(len(batch), len(list))
			if n > 0 {
				out[name] = append(out[name], slices.Sorted(slices.Values(list[:n])))
			}
			list = list[n:]
		}
		for _, more := range list {
			out[name] = append(out[name], []string{more})
		}
	}
	return out
}

// subsequence reports whether lines is a subsequence of of, or returns the first missing line.
func subsequence(lines, of []string) (missing string, ok bool) {
	for _, l := range lines {
		i := slices.Index(of, l)
		if i < 0 {
			return l, false
		}
		of = of[i+1:]
	}
	return "", true
}

func small(t *testing.T, what string, v any) {
	t.Helper()
	if n := jsonSize(t, v); n >= 64<<10 {
		t.Errorf("%s has %d bytes", what, n)
	}
}

func (p *scenarioRun) checkSizes() {
	for _, n := range p.s.seen.nodes {
		small(p.t, "the input of "+n.ID, n.Input)
	}
	for _, in := range p.s.seen.carried {
		small(p.t, "what a run begins with", in)
	}
	for _, r := range p.s.seen.results {
		small(p.t, "a result", r)
	}
	for _, b := range p.s.seen.batches {
		small(p.t, "a signal to the conversation", b)
	}
	for _, c := range p.s.seen.children {
		small(p.t, "the input of "+c.ID, c.Input)
	}
	for _, in := range read(p.world, &p.world.prompts) {
		small(p.t, "what a model is given", in)
	}
}
