package agentapi

import (
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
)

// A gate that is sent while another node writes a text is before that text in a stream, and behind it in the record.
// A client that connects again gets it no second time, whichever event it had last.
func TestAGateThatIsToldEarlyComesOnce(t *testing.T) {
	said := func(node, id, text string) contract.Message {
		return contract.Message{ID: id, Role: contract.RoleAssistant, Node: node, Reply: id, DraftID: id, Content: contract.Inline(text)}
	}
	waits := contract.PendingApproval{UUID: "0b6c1f52-6b1e-5d3a-9a43-7f1f4c6f0a11", ToolName: "remove", Reason: contract.ReasonDestructive}
	asks := contract.Message{ID: "n1", Role: contract.RoleAssistant, Notice: true, Node: "b", ApprovalID: waits.UUID}
	question := contract.Message{ID: "m1", Role: contract.RoleUser, Content: contract.Inline("go")}
	state := func(version int64, waiting bool, running bool, messages ...contract.Message) live.Item {
		s := record.State{Running: running, Messages: append([]contract.Message{question}, messages...), Tree: &document.Tree{}}
		s.View = contract.ConversationView{ID: "c", Version: version, Running: running}
		if waiting {
			s.View.Pending, s.Document.PendingApprovals = []contract.PendingApproval{waits}, []contract.PendingApproval{waits}
		}
		return live.Item{State: &s}
	}
	write := func(text string) live.Item {
		return live.Item{Delta: &generation.Delta{DraftID: "d1", Kind: generation.Text, Text: text}}
	}
	items := []live.Item{
		state(1, false, true), {Draft: &generation.Draft{ID: "d1", Node: "a"}}, write("Half "),
		state(2, true, true),       // it waits, and no request is in the record yet
		state(3, true, true, asks), // it is
		write("a text."),
		state(4, true, true, asks, said("a", "d1", "Half a text.")),
		state(5, true, false, asks, said("a", "d1", "Half a text.")),
	}
	for lost := range 8 { // the event that is lost, with all behind it on the connection
		r := &interrupted{lost: lost}
		for n, item := range items {
			if r.teller == nil {
				r.connect(t)
				for _, before := range items[:n] {
					if before.State == nil {
						r.take(t, before)
					}
				}
			}
			r.take(t, item)
		}
		if r.teller == nil {
			r.connect(t)
			r.take(t, items[len(items)-1])
		}
		if got := r.got.String(); strings.Count(got, "gate") != 1 || strings.ReplaceAll(got, "[gate]", "") != "Half a text." {
			t.Errorf("without event %d: %q", lost, got)
		}
	}
}

// interrupted is a client that loses its connection once.
type interrupted struct {
	got     strings.Builder
	lastID  string
	n, lost int
	teller  *Teller
}

func (r *interrupted) connect(t *testing.T) {
	t.Helper()
	r.teller = newTellerFrom(r, contract.ConversationView{ID: "c"}, 1, func(string) string { return "" })
	if r.lastID == "" {
		return
	}
	p, err := parsePosition(r.lastID)
	if err != nil || p.String() != r.lastID {
		t.Fatalf("%q is %q: %v", r.lastID, p, err)
	}
	r.teller.resumeAfter(p, func() error { return errors.New("it begins anew") })
}

func (r *interrupted) take(t *testing.T, i live.Item) {
	t.Helper()
	if r.teller == nil {
		return
	}
	if err := r.teller.Item(i); err != nil && !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
}

func (r *interrupted) event(text string) error {
	if r.n++; r.n-1 == r.lost {
		r.teller = nil
		return errBroken
	}
	r.lastID = r.teller.position().String()
	r.got.WriteString(text)
	return nil
}

func (r *interrupted) Token(text string) error                     { return r.event(text) }
func (r *interrupted) Gate(contract.PendingApproval, string) error { return r.event("[gate]") }
func (r *interrupted) Done() error                                 { return nil }
func (r *interrupted) Failed(string) error                         { return nil }
