package agentapi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/recordtest"
)

// reader is a client of a stream, whose connection breaks off now and then.
type reader struct {
	*rand.Rand
	breaks int // one event in as many is lost, with all that follow on the connection; 0 for none
	teller *Teller
	lastID string
	text   strings.Builder // since the last other event
	log    []string
	gates  []string
	anew   int
	replay []recordtest.Step // the drafts that a gateway keeps for readers that connect
}

var errBroken = errors.New("the connection broke off")

func (r *reader) event(do func()) error {
	if r.breaks > 0 && r.IntN(r.breaks) == 0 {
		r.teller = nil
		return errBroken
	}
	r.lastID = r.teller.position().String()
	do()
	return nil
}

func (r *reader) mark(s string) error {
	return r.event(func() { r.log = append(r.log, r.text.String()+"|"+s); r.text.Reset() })
}

func (r *reader) Token(text string) error {
	return r.event(func() {
		if strings.Contains(text, "Approval needed") { // one that was decided meanwhile is not told
			r.gates = append(r.gates, text)
			return
		}
		r.text.WriteString(text)
	})
}

func (r *reader) Gate(p contract.PendingApproval, _ string) error {
	return r.event(func() { r.gates = append(r.gates, p.UUID) })
}

func (r *reader) Done() error              { return r.mark("done") }
func (r *reader) Failed(text string) error { return r.mark("failed " + text) }

// take gives the next step to the reader, which connects again if it has to.
func (r *reader) take(s recordtest.Step) error {
	piece := s.Draft != nil || s.Delta != nil
	if piece {
		r.replay = append(r.replay, s)
	} else {
		r.replay = slices.DeleteFunc(r.replay, func(o recordtest.Step) bool { return recorded(s, o) })
	}
	if r.teller != nil {
		return r.teller.Item(itemOf(s))
	}
	r.teller = newTellerFrom(r, contract.ConversationView{ID: recordtest.ID}, 1, func(uuid string) string { return uuid })
	if r.lastID != "" {
		p, err := parsePosition(r.lastID)
		if err != nil {
			return err
		}
		if p.String() != r.lastID {
			return fmt.Errorf("%s is %s", r.lastID, p)
		}
		r.teller.resumeAfter(p, func() error { r.anew++; return nil })
	}
	state := s.State
	if err := r.teller.Item(live.Item{State: &state}); err != nil {
		return err
	}
	for _, o := range r.replay {
		if r.teller == nil {
			return nil
		}
		if err := r.teller.Item(itemOf(o)); err != nil {
			return err
		}
	}
	return nil
}

func itemOf(s recordtest.Step) live.Item {
	if s.Draft != nil || s.Delta != nil {
		return live.Item{Draft: s.Draft, Delta: s.Delta}
	}
	return live.Item{State: &s.State}
}

// recorded reports whether a piece is of a draft that a state has, or of a turn that is over.
func recorded(s, piece recordtest.Step) bool {
	id := ""
	if piece.Draft != nil {
		id = piece.Draft.ID
	} else {
		id = piece.Delta.DraftID
	}
	return s.State.Over() || slices.ContainsFunc(s.State.Messages, func(m contract.Message) bool { return m.DraftID == id })
}

// A client that connects again with the ID of its last event has in the end what it would have without the
// interruptions: nothing is lost, and nothing comes twice.
func TestAStreamGoesOnWhereItBrokeOff(t *testing.T) {
	resumed := 0
	for seed := range uint64(150) {
		if seed%3 == 2 { // the order of nodes that work in parallel depends on who listens
			continue
		}
		whole, broken := listen(t, seed, lasting(recordtest.New(seed).Steps), &resumed)
		if broken.anew > 0 || strings.Join(broken.log, "\n") != strings.Join(whole.log, "\n") {
			t.Fatalf("seed %d: began anew %d times, got\n%q\n\nwant\n%q", seed, broken.anew, broken.log, whole.log)
		}
		if all := slices.Sorted(slices.Values(broken.gates)); len(slices.Compact(all)) < len(broken.gates) {
			t.Fatalf("seed %d: %q", seed, broken.gates)
		}
	}
	if resumed < 150 {
		t.Errorf("resumed only %d times", resumed)
	}
}

// So it is, but for its order, when nodes work in parallel. When the model is asked again, or a worker dies, a
// client may lack what no record has, and may have to begin the turn anew.
func TestEveryTurnEndsForAStreamThatGoesOn(t *testing.T) {
	resumed, anew := 0, 0
	for seed := range uint64(150) {
		steps := recordtest.New(seed).Steps
		whole, broken := listen(t, seed, steps, &resumed)
		anew += broken.anew
		if got, want := ends(broken.log), ends(whole.log); broken.anew == 0 && got != want {
			t.Fatalf("seed %d: got\n%s\n\nwant\n%s", seed, got, want)
		}
		if all := slices.Sorted(slices.Values(broken.gates)); broken.anew == 0 && len(slices.Compact(all)) < len(broken.gates) {
			t.Errorf("seed %d: a gate comes twice: %q", seed, broken.gates)
		}
		text := strings.Join(broken.log, "")
		for _, e := range steps[len(steps)-1].State.Entries() {
			if e.Kind == record.KindText && !strings.Contains(text, e.Text) {
				t.Fatalf("seed %d: %q is lost in\n%q", seed, e.Text, broken.log)
			}
		}
	}
	if anew == 0 || anew > resumed/20 {
		t.Errorf("began anew %d times of %d", anew, resumed)
	}
}

// ends returns how turns have ended.
func ends(log []string) string {
	var b strings.Builder
	for _, l := range log {
		b.WriteString(l[strings.LastIndex(l, "|"):])
	}
	return b.String()
}

// listen returns what two readers have of a conversation, one with interruptions.
func listen(t *testing.T, seed uint64, steps []recordtest.Step, resumed *int) (whole, broken *reader) {
	t.Helper()
	whole, broken = &reader{Rand: rand.New(rand.NewPCG(seed, 2))}, &reader{Rand: rand.New(rand.NewPCG(seed, 3)), breaks: 5}
	for _, s := range steps {
		for _, r := range []*reader{whole, broken} {
			if err := r.take(s); err != nil && !errors.Is(err, errBroken) {
				t.Fatal(seed, err)
			}
			if r.teller == nil {
				*resumed++
			}
		}
	}
	broken.breaks = 0
	if err := broken.take(recordtest.Step{State: steps[len(steps)-1].State}); err != nil {
		t.Fatal(seed, err)
	}
	return whole, broken
}

// lasting leaves out what no record has in the end: provisional states, and replies of the model that were
// given up.
func lasting(steps []recordtest.Step) (out []recordtest.Step) {
	for n, s := range steps {
		id := ""
		switch {
		case s.Provisional || s.Sent != nil:
			continue
		case s.Draft != nil:
			id = s.Draft.ID
		case s.Delta != nil:
			id = s.Delta.DraftID
		}
		if id == "" || strings.HasPrefix(textOf(steps, id), attempt(steps, n, id)) && textOf(steps, id) != "" {
			out = append(out, s)
		}
	}
	return out
}

// textOf returns the recorded text of a draft.
func textOf(steps []recordtest.Step, id string) string {
	for _, e := range steps[len(steps)-1].State.Entries() {
		if e.DraftID == id && e.Kind == record.KindText {
			return history.Text(e)
		}
	}
	return ""
}

// attempt returns the text of the attempt at a draft that a step belongs to.
func attempt(steps []recordtest.Step, n int, id string) (text string) {
	for n > 0 && (steps[n].Draft == nil || steps[n].Draft.ID != id) {
		n--
	}
	for _, s := range steps[n+1:] {
		switch {
		case s.Draft != nil && s.Draft.ID == id:
			return text
		case s.Delta != nil && s.Delta.DraftID == id && s.Delta.Kind == generation.Text:
			text += s.Delta.Text
		}
	}
	return text
}
