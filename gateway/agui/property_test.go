package agui

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/recordtest"
)

type step = recordtest.Step

// watcher reads a conversation over connections that break off.
type watcher struct {
	*rand.Rand
	*client
	stream  *Stream
	shared  *Stream // a stream with all events; this reader may join its readers
	replay  []step  // pieces of drafts that are not recorded
	counts  bool    // every notice comes exactly once
	before  []Message
	session func(before []Message, c *client)
}

func (r *watcher) connect(o Options, st State) error {
	r.end()
	r.reconnect()
	r.before = slices.Clone(r.messages)
	o.ThreadID = "t"
	r.stream = New(o)
	err := r.feed(r.stream.Update(st))
	if err == nil && r.IntN(2) == 0 {
		for _, s := range r.replay {
			if err := r.apply(s); err != nil {
				return err
			}
		}
	}
	return err
}

// end records a finished stream for the foreign clients.
func (r *watcher) end() {
	if r.session != nil && len(r.log) > 0 {
		r.session(r.before, r.client)
	}
	r.log = nil
}

// feed gives events to the client; now and then the connection breaks off between them.
func (r *watcher) feed(events []Event) error {
	if len(events) > 0 && r.IntN(40) == 0 {
		events = events[:r.IntN(len(events))]
		r.stream = nil
	}
	return r.take(events)
}

func (r *watcher) apply(s step) error {
	if r.stream == nil {
		return nil
	}
	return r.feed(pieceOf(r.stream, s))
}

func pieceOf(to *Stream, s step) []Event {
	if s.Draft != nil {
		return to.Draft(*s.Draft)
	}
	return to.Delta(*s.Delta)
}

func isPiece(s step) bool { return s.Draft != nil || s.Delta != nil }

// joined counts how often a reader joined the shared stream.
var joined int

// share takes a step with the shared stream, or gives the step to the shared stream before
// the reader may join it.
func (r *watcher) share(s step, last bool) error {
	if s.Sent != nil && r.stream == r.shared {
		r.stream = nil // a reader that sends a message leaves the shared stream
	}
	shares := r.stream == r.shared
	var events []Event
	if isPiece(s) {
		events = pieceOf(r.shared, s)
	} else {
		events = r.shared.Update(s.State)
	}
	if shares {
		if isPiece(s) {
			r.keep(s)
		}
		if err := r.feed(events); err != nil || r.stream != nil || !last {
			return err
		}
	}
	if err := r.see(s, last); err != nil {
		return err
	}
	if r.legacy == nil && r.stream != nil && r.stream != r.shared && r.shared.Adopt(r.stream) {
		r.stream = r.shared
		joined++
	}
	return nil
}

// keep stores a piece of a draft for readers that resume.
func (r *watcher) keep(s step) {
	if s.Draft != nil {
		r.replay = slices.DeleteFunc(r.replay, func(o step) bool { return o.Draft != nil && o.Draft.ID == s.Draft.ID })
	}
	r.replay = append(r.replay, s)
}

// resume connects again, in one of the possible ways.
func (r *watcher) resume(st State) error {
	after, err := ParsePosition(r.lastID)
	if err != nil {
		return err
	}
	held := map[string]bool{}
	for _, m := range r.messages {
		held[m.ID] = true
	}
	known := func(id string) bool { return held[id] }
	switch n := r.IntN(8); {
	case n == 0, after.IsZero() && len(held) > 0:
		r.counts = false
		return r.connect(Options{Snapshot: true, Known: known}, st)
	case n == 1 && !after.open && r.run == "" && r.last == "finished":
		r.counts = false
		return r.connect(Options{Known: known, RunID: fmt.Sprint("r", r.Uint64())}, st)
	case n == 2:
		return r.connect(Options{After: after, Known: known}, st)
	}
	return r.connect(Options{After: after}, st)
}

// post sends a message as the client.
func (r *watcher) post(m contract.Message, st State) error {
	if m.DraftID == "" || r.IntN(2) == 0 || r.stream == nil {
		return nil
	}
	if err := r.feed(r.stream.Update(st)); err != nil || r.stream == nil {
		return err
	}
	r.end()
	text := m.Content.Inline
	r.messages = append(r.messages, Message{ID: m.DraftID, Role: RoleUser, Content: &text})
	r.stream = nil
	r.counts = false
	held := map[string]bool{}
	for _, m := range r.messages {
		held[m.ID] = true
	}
	return r.connect(Options{Known: func(id string) bool { return held[id] }, RunID: "mine-" + m.DraftID}, st)
}

func (r *watcher) watch(steps []step) error {
	for n, s := range steps {
		if err := r.share(s, n == len(steps)-1); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	return nil
}

func (r *watcher) see(s step, last bool) error {
	for r.stream == nil && (last || r.IntN(4) == 0) {
		if err := r.resume(s.State); err != nil {
			return err
		}
	}
	switch {
	case isPiece(s):
		r.keep(s)
		if r.IntN(25) == 0 {
			return nil // lost
		}
		return r.apply(s)
	case r.stream == nil:
	case s.Sent != nil:
		return r.post(*s.Sent, s.State)
	case last || r.IntN(3) == 0:
		err := r.feed(r.stream.Update(s.State))
		for err == nil && r.stream == nil && last {
			err = r.resume(s.State)
		}
		return err
	}
	return nil
}

func play(seed uint64, legacy bool, session func([]Message, *client)) error {
	c := recordtest.New(seed)
	r := &watcher{Rand: rand.New(rand.NewPCG(seed, 2)), client: newClient(), counts: true, session: session}
	if legacy {
		r.legacy = NewLegacy(nil)
	}
	r.shared = New(Options{ThreadID: "t"})
	if err := r.connect(Options{}, c.Steps[0].State); err != nil {
		return err
	}
	if err := r.watch(c.Steps); err != nil {
		return err
	}
	r.end()
	return r.settled(c)
}

// settled checks the messages that the client ends with.
func (r *watcher) settled(c *recordtest.Conversation) error {
	end := c.Last()
	end.Running, end.Document.PendingApprovals = false, nil
	items := viewOf(end).items
	want := messagesOf(items, func(item) bool { return true })
	got := slices.DeleteFunc(slices.Clone(r.messages), func(m Message) bool { return m.Role == RoleReasoning })
	if r.legacy != nil { // a withheld call comes after other events
		got, want = callsByID(got), callsByID(want)
	}
	if len(c.Nodes) > 0 || r.legacy != nil { // messages of parallel nodes come in any order
		byID := func(a, b Message) int { return cmpStrings(a.ID, b.ID) }
		slices.SortFunc(got, byID)
		slices.SortFunc(want, byID)
	}
	if a, b := canonical(got), canonical(want); a != b {
		return fmt.Errorf("the client has\n%s\nand not\n%s", a, b)
	}
	if r.run != "" || r.last != "finished" || !sameState(r.state, end) {
		return fmt.Errorf("the run did not finish, or with another state: %v", r.state)
	}
	for _, i := range items {
		if n := r.custom[i.ID]; i.Kind.Notice() && r.counts && n != 1 {
			return fmt.Errorf("notice %s came %d times", i.ID, n)
		}
	}
	return nil
}

func sameState(got map[string]any, st State) bool {
	var want map[string]any
	_ = json.Unmarshal(encoded(sharedOf(st)), &want)
	return string(encoded(got[Namespace])) == string(encoded(want))
}

func cmpStrings(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

func callsByID(messages []Message) []Message {
	out := slices.Clone(messages)
	for n, m := range out {
		out[n].ToolCalls = slices.Clone(m.ToolCalls)
		slices.SortFunc(out[n].ToolCalls, func(a, b ToolCall) int { return cmpStrings(a.ID, b.ID) })
	}
	return out
}

// canonical returns messages as text, with arguments as values.
func canonical(messages []Message) string {
	var out string
	for _, m := range messages {
		calls := slices.Clone(m.ToolCalls)
		for n, c := range calls {
			v, _ := decoded(c.Function.Arguments)
			calls[n].Function.Arguments = string(encoded(v))
		}
		m.ToolCalls = calls
		out += string(encoded(m)) + "\n"
	}
	return out
}

func TestEveryStreamIsLegalAndNothingIsLostOrDoubled(t *testing.T) {
	joined = 0
	for seed := range uint64(200) {
		if err := play(seed, false, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if joined < 200 {
		t.Errorf("only %d times a stream was shared", joined)
	}
}

func TestAnOlderClientMakesOnlyTheCallsThatAreMeantForIt(t *testing.T) {
	for seed := range uint64(200) {
		if err := play(seed, true, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
