package record_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/recordtest"
	"agent-stop-and-go/workflows/wording"
)

const uuid = "0e37df36-f698-11e6-8dd4-cb9ced3df976"

func user(id, text string) contract.Message {
	return contract.Message{ID: id, Role: contract.RoleUser, Content: contract.Inline(text)}
}

func text(id, node, text string) contract.Message {
	return contract.Message{ID: id, Role: contract.RoleAssistant, Node: node, Content: contract.Inline(text)}
}

func call(id, reply, provider, tool string) contract.Message {
	return contract.Message{ID: id, Role: contract.RoleAssistant, Reply: reply, ToolCall: &contract.ToolCall{ID: provider, Name: tool}}
}

func result(id, reply, provider, tool, of string) contract.Message {
	return contract.Message{ID: id, Role: contract.RoleTool, Reply: reply, ResultOf: of, ToolCall: &contract.ToolCall{ID: provider, Name: tool}}
}

func notice(role contract.Role, text, approval string) contract.Message {
	return contract.Message{Role: role, Content: contract.Inline(text), Notice: true, ApprovalID: approval}
}

// summaryOf formats an entry: number.turn, kind, and the entry that it answers.
func summaryOf(e record.Entry) string {
	kinds := []string{"", "message", "text", "call", "result", "request", "decision", "notice"}
	s := fmt.Sprintf("%d.%d %s %s", e.Seq, e.Turn, kinds[e.Kind], e.Text)
	if e.Answers > 0 {
		s += fmt.Sprint(" of ", e.Answers)
	}
	if e.Missing {
		s += " missing"
	}
	return strings.Join(strings.Fields(s), " ")
}

func TestEntries(t *testing.T) {
	decided := notice(contract.RoleUser, "[APPROVAL]: Approved", "")
	decided.Approval = &contract.ApprovalResult{UUID: uuid}
	old := decided
	old.Notice = false
	prefaced := user("u", "[page] hello")
	prefaced.Preface = len("[page] ")
	for name, tt := range map[string]struct {
		in         []contract.Message
		tree, over bool
		want       []string
	}{
		"nothing":   {},
		"two turns": {in: []contract.Message{user("a", "hi"), text("b", "", "ho"), user("c", "hi again")}, want: []string{"1.1 message hi", "2.1 text ho", "3.2 message hi again"}},
		"before the first message": {
			in:   []contract.Message{{Role: contract.RoleSystem, Content: contract.Inline("Be kind.")}, text("b", "", "Hello!"), user("c", "hi")},
			want: []string{"1.0 text Hello!", "2.1 message hi"},
		},
		"what a program wrote in front": {in: []contract.Message{prefaced}, want: []string{"1.1 message hello"}},
		"names of nodes": {
			in:   []contract.Message{user("a", "hi"), text("b", "poet", "[poet] ho"), text("c", "", "[poet] ho")},
			tree: true, want: []string{"1.1 message hi", "2.1 text ho", "3.1 text [poet] ho"},
		},
		"without a tree they are text": {in: []contract.Message{text("b", "poet", "[poet] ho")}, want: []string{"1.0 text [poet] ho"}},
		"an approval": {
			in: []contract.Message{
				user("a", "hi"), notice(contract.RoleAssistant, "May I?", uuid), decided, notice(contract.RoleAssistant, "Asking another model.", ""),
			},
			want: []string{"1.1 message hi", "2.1 request May I?", "3.1 decision [APPROVAL]: Approved", "4.1 notice Asking another model."},
		},
		"approvals of before": {
			in:   []contract.Message{user("a", "hi"), notice(contract.RoleAssistant, "May I? Approval UUID: "+uuid, ""), old},
			want: []string{"1.1 message hi", "2.1 request May I? Approval UUID: " + uuid, "3.1 decision [APPROVAL]: Approved"},
		},
		"results say of which call they are": {
			in: []contract.Message{
				user("a", "hi"), call("c1", "r", "0", "x"), call("c2", "r", "0", "x"),
				result("d2", "r", "0", "x", "c2"), result("d1", "r", "0", "x", "c1"), result("d3", "r", "0", "x", "c3"),
			},
			want: []string{"1.1 message hi", "2.1 call", "3.1 call", "4.1 result of 3", "5.1 result of 2", "6.1 result"},
		},
		"results of before": {
			in: []contract.Message{
				user("a", "hi"), call("c1", "r1", "0", "x"), call("c2", "r2", "0", "x"), call("c3", "r2", "1", "x"), call("c4", "r2", "1", "y"),
				result("d3", "r2", "1", "x", ""), result("d2", "r2", "0", "x", ""), result("d4", "r2", "1", "y", ""), result("d1", "", "0", "x", ""), result("d5", "", "0", "x", ""),
			},
			want: []string{
				"1.1 message hi", "2.1 call", "3.1 call", "4.1 call", "5.1 call",
				"6.1 result of 4", "7.1 result of 3", "8.1 result of 5", "9.1 result of 2", "10.1 result",
			},
		},
		"calls without a result": {
			in:   []contract.Message{user("a", "hi"), call("c1", "r", "0", "x"), user("b", "and?"), call("c2", "r", "0", "x")},
			over: true, want: []string{"1.1 message hi", "2.1 call", "3.1 result of 2 missing", "4.2 message and?", "5.2 call", "6.2 result of 5 missing"},
		},
		"calls under way": {
			in:   []contract.Message{user("a", "hi"), call("c1", "r", "0", "x")},
			want: []string{"1.1 message hi", "2.1 call"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range record.Read(record.Source{Messages: tt.in, Tree: tt.tree, Over: tt.over}) {
				got = append(got, summaryOf(e))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHowATurnEnded(t *testing.T) {
	typed, said := text("b", "", "Enough."), text("b", "", wording.TurnCancelled("enough"))
	typed.Outcome = contract.OutcomeCancelled
	byModel := said
	byModel.DraftID = "draft-1"
	for name, tt := range map[string]struct {
		in   contract.Message
		want contract.Outcome
	}{"typed": {typed, contract.OutcomeCancelled}, "of before": {said, contract.OutcomeCancelled}, "a model's words": {byModel, ""}} {
		if got := record.Read(record.Source{Messages: []contract.Message{user("a", "hi"), tt.in}})[1].Outcome; got != tt.want {
			t.Errorf("%s: %q, expected %q", name, got, tt.want)
		}
	}
}

// A cursor restored from an event's ID has exactly the entries received then, whatever was
// inserted or appended since.
func TestACursorHasTheReceivedEntries(t *testing.T) {
	within := 0 // cursors within a turn
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		states := recordtest.New(seed).Lasting()
		told := map[uint64]bool{}
		for at, state := range states {
			c := deliver(r, state, told)
			if of := record.CursorOf(state.Entries(), record.Firm(state.Entries(), state.Parallel()), told); of.String() != c.String() {
				t.Fatalf("seed %d: %s all at once, %s one by one", seed, of, c)
			}
			again, err := record.ParseCursor(c.String())
			if err != nil {
				t.Fatalf("seed %d: %q: %v", seed, c, err)
			}
			later := states[min(at+r.IntN(8), len(states)-1)]
			if got, ok := again.Seen(later.Entries()); !ok || !maps.Equal(got, told) {
				t.Fatalf("seed %d: at %s: %v, %v, expected %v", seed, c, got, ok, told)
			}
			if !again.Whole() {
				within++
			}
		}
	}
	if within < 400 {
		t.Errorf("only %d cursors were within a turn", within)
	}
}

// deliver gives a reader some of the new entries of a state.
func deliver(r *rand.Rand, state record.State, told map[uint64]bool) record.Cursor {
	entries := state.Entries()
	var c record.Cursor
	for _, e := range entries {
		if told[e.Hash()] || r.IntN(3) > 0 && mayDeliver(entries, e, told) {
			told[e.Hash()] = true
			c.Add(e, record.Firm(entries, state.Parallel()))
		}
	}
	return c
}

// mayDeliver reports whether all entries before it, of the same node and of earlier turns, have
// been delivered: delivery is in order.
func mayDeliver(entries []record.Entry, e record.Entry, told map[uint64]bool) bool {
	for _, other := range entries[:e.Seq-1] {
		if (other.Turn < e.Turn || other.Node == e.Node || other.Kind == record.KindMessage) && !told[other.Hash()] {
			return false
		}
	}
	return true
}

// The prompt is not an entry, and must not prevent a cursor from being one number.
func TestACursorIsOneNumberIfNothingRunsInParallel(t *testing.T) {
	entries := record.Read(record.Source{Messages: []contract.Message{
		{ID: "p", Role: contract.RoleSystem, Content: contract.Inline("Be kind.")}, user("a", "hi"), text("b", "", "ho"),
	}})
	var c record.Cursor
	for _, e := range entries {
		c.Add(e, record.Firm(entries, false))
	}
	if !c.Whole() || !strings.HasPrefix(c.String(), "2.") || strings.Contains(c.String(), ";") {
		t.Errorf("the cursor is %s", c)
	}
}

func TestACursorOfAnotherRecordIsKnown(t *testing.T) {
	messages := []contract.Message{user("a", "hi"), text("b", "", "ho"), text("c", "", "more")}
	entries := record.Read(record.Source{Messages: messages})
	var c record.Cursor
	for _, e := range entries[:2] {
		c.Add(e, 3)
	}
	other := slices.Clone(messages)
	other[1].Content = contract.Inline("something else")
	for name, changed := range map[string][]contract.Message{"another text": other, "less": messages[:1], "nothing": nil} {
		if _, ok := c.Seen(record.Read(record.Source{Messages: changed})); ok {
			t.Errorf("%s: it was taken for the same", name)
		}
	}
	if told, ok := c.Seen(entries); !ok || len(told) != 2 {
		t.Errorf("%v, %v", told, ok)
	}
}

func TestCursorsThatMakeNoSense(t *testing.T) {
	for _, bad := range []string{"x", "1", "-1.0", "1.zz", "1.0;a", "1.0;a=0", "1.0;%=1", "1.0;a=x"} {
		if _, err := record.ParseCursor(bad); err == nil {
			t.Errorf("%q was taken for a cursor", bad)
		}
	}
	if c, err := record.ParseCursor(""); err != nil || !c.IsZero() || c.String() != "" {
		t.Errorf("nothing: %v, %v", c, err)
	}
}
