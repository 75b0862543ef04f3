package merkle_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

const origin = "example.com/agents"

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// world is a log with its key, its store and its witness.
type world struct {
	t       *testing.T
	store   *memory
	key     merkle.Key
	log     *merkle.Log
	witness string // folder
	head    audit.Head
}

func newKey(t *testing.T) merkle.Key {
	t.Helper()
	text, err := merkle.NewKey(origin)
	if err != nil {
		t.Fatal(err)
	}
	k, err := merkle.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newWorld(t *testing.T, witnessed bool) *world {
	w := &world{t: t, store: &memory{}, key: newKey(t)}
	if witnessed {
		w.witness = t.TempDir()
	}
	w.log = w.open(w.store)
	return w
}

// open opens the log of a store with the world's key. A log of the attacker's has no witness.
func (w *world) open(s merkle.Store) *merkle.Log {
	w.t.Helper()
	o := merkle.Options{Store: s, Origin: origin, Key: w.key}
	if w.witness != "" && s == merkle.Store(w.store) {
		var err error
		if o.Witness, err = merkle.OpenWitness(w.witness, origin, w.key.Public); err != nil {
			w.t.Fatal(err)
		}
	}
	l, err := merkle.NewLog(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *world) append(leaves ...audit.Leaf) {
	w.t.Helper()
	h, err := w.log.Append(w.t.Context(), w.head, leaves)
	if err != nil {
		w.t.Fatal(err)
	}
	w.head = h
}

// call returns the leaves of a call that was approved.
func call(n int) [][]audit.Leaf {
	conversation, approval, activity := contract.NameUUID("conversation", fmt.Sprint(n%3)), contract.NameUUID("approval", fmt.Sprint(n)), fmt.Sprintf("run-%d/5", n)
	proposal := audit.ProposalID(conversation, fmt.Sprint("m", n), "resources", "resources_remove", "abc")
	at := func(s int) time.Time { return noon.Add(time.Duration(n*60+s) * time.Second) }
	return [][]audit.Leaf{{
		{ID: proposal, Kind: audit.KindProposal, At: at(0), Conversation: conversation, Tool: "resources_remove", Proposal: proposal},
		{ID: audit.ShownID(approval), Kind: audit.KindShown, At: at(0), Conversation: conversation, Approval: approval, Proposal: proposal, Reason: contract.ReasonDestructive},
	}, {
		{ID: audit.DecisionID(approval), Kind: audit.KindDecision, At: at(9), Conversation: conversation, Approval: approval, Decision: contract.Approved, Actor: &audit.Actor{Subject: "alice", Issuer: "keys", Proven: true, Channel: "rest"}},
		{ID: audit.CallID(activity), Kind: audit.KindCall, At: at(9), Conversation: conversation, Activity: activity, Proposal: proposal},
	}, {
		{ID: audit.OutcomeID(activity), Kind: audit.KindOutcome, At: at(10), Conversation: conversation, Activity: activity, Proposal: proposal, Outcome: audit.OutcomeDone},
	}}
}

func (w *world) fill(calls int) {
	for n := range calls {
		for _, leaves := range call(n) {
			w.append(leaves...)
		}
	}
}

func (w *world) verify(e merkle.Evidence) merkle.Report {
	w.t.Helper()
	e.Origin, e.Now = origin, noon.Add(24*time.Hour)
	if e.Keys == nil {
		e.Keys = []string{w.key.Public}
	}
	if w.witness != "" {
		var err error
		if e.Witnessed, err = merkle.ReadWitness(w.witness); err != nil {
			w.t.Fatal(err)
		}
		key, err := merkle.WitnessKey(w.witness)
		if err != nil {
			w.t.Fatal(err)
		}
		k, err := note.NewVerifier(key)
		if err != nil {
			w.t.Fatal(err)
		}
		e.Witnesses = append(e.Witnesses, k)
	}
	r, _, err := merkle.Verify(w.t.Context(), w.store, e)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) names() []string { return slices.Sorted(maps.Keys(w.store.Files)) }

// rewrite is an attacker who has the key: the store gets a log of other leaves from a batch on.
func (w *world) rewrite(from int, change func([]audit.Leaf) []audit.Leaf) {
	w.t.Helper()
	other := &memory{}
	l := w.open(other)
	for n, name := range w.names() {
		var leaves []audit.Leaf
		head, _, _ := strings.Cut(string(w.store.Files[name]), "\n\n")
		for line := range strings.SplitSeq(head, "\n") {
			leaf, err := audit.ParseLine([]byte(line))
			if err != nil {
				w.t.Fatal(err)
			}
			leaves = append(leaves, leaf)
		}
		if n >= from {
			leaves = change(leaves)
		}
		if len(leaves) == 0 {
			continue
		}
		if _, err := l.Append(w.t.Context(), audit.Head{}, leaves); err != nil {
			w.t.Fatal(err)
		}
	}
	w.store.Files = other.Files
}

func cheat(leaves []audit.Leaf) []audit.Leaf {
	for i := range leaves {
		if a := leaves[i].Actor; a != nil {
			leaves[i].Actor = &audit.Actor{Subject: "mallory", Issuer: a.Issuer, Proven: true, Channel: a.Channel}
		}
	}
	return leaves
}

// The attacks on the files, and what Verify calls each of them without a witness and with one. Without
// one, nobody can know of an end that is missing or of another log under the same key.
var attacks = []struct {
	name       string
	do         func(w *world)
	alone      merkle.Class
	witnessed  merkle.Class
	withHead   merkle.Class // without a witness, with what the server knows
	appendable bool         // what the appender does not see, without a witness and without the server
}{
	{"nothing", func(w *world) {}, "", "", "", true},
	{"a byte of a leaf is flipped", func(w *world) {
		name := w.names()[4]
		w.store.Files[name] = bytes.Replace(w.store.Files[name], []byte("alice"), []byte("alicf"), 1)
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"a byte of a signature is flipped", func(w *world) {
		name := w.names()[4]
		text := w.store.Files[name]
		text[len(text)-9] ^= 1
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"a batch is dropped", func(w *world) { delete(w.store.Files, w.names()[4]) }, merkle.Altered, merkle.Altered, merkle.Altered, true},
	{"a batch is dropped and the others move up", func(w *world) {
		names := w.names()
		for i := 4; i+1 < len(names); i++ {
			w.store.Files[names[i]] = w.store.Files[names[i+1]]
		}
		delete(w.store.Files, names[len(names)-1])
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"the first batch is dropped", func(w *world) { delete(w.store.Files, w.names()[0]) }, merkle.Altered, merkle.Altered, merkle.Altered, true},
	{"a leaf is dropped", func(w *world) {
		name := w.names()[0]
		_, rest, _ := bytes.Cut(w.store.Files[name], []byte("\n"))
		w.store.Files[name] = rest
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"the last batches are cut off", func(w *world) {
		for _, name := range w.names()[6:] {
			delete(w.store.Files, name)
		}
	}, "", merkle.TailMissing, merkle.TailMissing, true},
	{"everything is removed", func(w *world) { w.store.Files = nil }, "", merkle.TailMissing, merkle.TailMissing, true},
	{"the last batch is cut short", func(w *world) {
		name := w.names()[len(w.store.Files)-1]
		w.store.Files[name] = w.store.Files[name][:40]
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"two batches change places", func(w *world) {
		a, b := w.names()[3], w.names()[4]
		w.store.Files[a], w.store.Files[b] = w.store.Files[b], w.store.Files[a]
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"two leaves change places", func(w *world) {
		name := w.names()[3]
		parts := bytes.SplitN(w.store.Files[name], []byte("\n"), 3)
		w.store.Files[name] = bytes.Join([][]byte{parts[1], parts[0], parts[2]}, []byte("\n"))
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"a batch is there twice", func(w *world) { w.store.Files["log/0000000/012"] = w.store.Files[w.names()[11]] }, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"a leaf is signed again with another key", func(w *world) {
		mine := w.key
		w.key = newKey(w.t)
		w.rewrite(0, cheat)
		w.key = mine
	}, merkle.Altered, merkle.Altered, merkle.Altered, false},
	{"a leaf is signed again with the stolen key", func(w *world) { w.rewrite(4, cheat) }, "", merkle.Forked, merkle.Forked, true},
	{"only the batch of the leaf is signed again with the stolen key", func(w *world) {
		there := maps.Clone(w.store.Files)
		w.rewrite(4, cheat)
		for name, text := range there {
			if name != w.names()[4] {
				w.store.Files[name] = text
			}
		}
	}, merkle.Altered, merkle.Forked, merkle.Altered, false},
	{"the end is replaced with the stolen key", func(w *world) {
		w.rewrite(9, func([]audit.Leaf) []audit.Leaf { return nil })
		l := w.open(&memory{Files: w.store.Files})
		for n := 20; n < 30; n++ {
			if _, err := l.Append(w.t.Context(), audit.Head{}, slices.Concat(call(n)...)); err != nil {
				w.t.Fatal(err)
			}
		}
	}, "", merkle.Forked, merkle.Forked, true},
	{"an event is left out with the stolen key", func(w *world) {
		w.rewrite(0, func(l []audit.Leaf) []audit.Leaf {
			return slices.DeleteFunc(l, func(l audit.Leaf) bool { return l.Kind == audit.KindShown })
		})
	}, merkle.Incomplete, merkle.Forked, merkle.TailMissing, true}, // the log is shorter then
}

func TestEveryAttackIsNamed(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			for _, witnessed := range []bool{false, true} {
				w := newWorld(t, witnessed)
				w.fill(4) // 12 batches
				a.do(w)
				want := a.alone
				if witnessed {
					want = a.witnessed
				}
				if r := w.verify(merkle.Evidence{}); r.Class() != want {
					t.Errorf("witness %v: %q, expected %q: %+v", witnessed, r.Class(), want, r.Findings)
				}
				if witnessed {
					continue
				}
				if r := w.verify(merkle.Evidence{Head: w.head}); r.Class() != a.withHead {
					t.Errorf("with what the server knows: %q, expected %q: %+v", r.Class(), a.withHead, r.Findings)
				}
			}
		})
	}
}

// Nothing is appended to a log that was tampered with: the calls wait.
func TestNothingIsAppendedToALogThatWasTamperedWith(t *testing.T) {
	for _, a := range attacks[1:] {
		t.Run(a.name, func(t *testing.T) {
			for _, witnessed := range []bool{false, true} {
				w := newWorld(t, witnessed)
				w.fill(4)
				a.do(w)
				files := maps.Clone(w.store.Files)
				var head audit.Head
				if !witnessed {
					head = w.head
				}
				_, err := w.open(w.store).Append(t.Context(), head, slices.Concat(call(9)...))
				if err == nil || len(w.store.Files) != len(files) {
					t.Errorf("witness %v: appended, %v", witnessed, err)
				}
				_, err = w.open(&memory{Files: files}).Append(t.Context(), audit.Head{}, slices.Concat(call(9)...))
				if (err == nil) != a.appendable {
					t.Errorf("without anything to compare it with: %v", err)
				}
			}
		})
	}
}

// A flip of any byte is found, of leaves, checkpoints and signatures. Every third one is flipped.
func TestEveryFlippedByteIsFound(t *testing.T) {
	w := newWorld(t, false)
	w.fill(1)
	for _, name := range w.names() {
		text := w.store.Files[name]
		for i := 0; i < len(text); i += 3 {
			text[i] ^= 1
			if r := w.verify(merkle.Evidence{Head: w.head}); r.Class() != merkle.Altered {
				t.Fatalf("byte %d of %s: %q, %+v", i, name, r.Class(), r.Findings)
			}
			text[i] ^= 1
		}
	}
	if r := w.verify(merkle.Evidence{Head: w.head}); r.Class() != "" {
		t.Errorf("%+v", r)
	}
}

func TestEventsThatAreMissingAreNamed(t *testing.T) {
	all := slices.Concat(call(0)...)
	for kind, want := range map[audit.Kind]string{
		audit.KindProposal: "a call was not proposed before", audit.KindShown: "a decision is about what was not shown before",
		audit.KindDecision: "people were asked about a call, and it ran without an approval", audit.KindCall: "an outcome is of no call",
		audit.KindOutcome: "a call has no outcome",
	} {
		got := merkle.Sequence(slices.DeleteFunc(slices.Clone(all), func(l audit.Leaf) bool { return l.Kind == kind }), noon.Add(24*time.Hour))
		if len(got.Findings) != 1 || got.Findings[0].Text != want {
			t.Errorf("without %s: %+v", kind, got)
		}
	}
	got := merkle.Sequence(all[:4], noon.Add(time.Minute))
	if len(got.Findings) != 0 || got.Open != 1 {
		t.Errorf("a call that runs: %+v", got)
	}
	doubt := audit.Leaf{ID: "shown/x", Kind: audit.KindShown, Approval: "x", Proposal: all[0].ID, Reason: contract.ReasonUnknownOutcome}
	if got := merkle.Sequence(append(slices.Clone(all[:4]), doubt), noon.Add(24*time.Hour)); len(got.Findings) != 0 || got.Open != 0 {
		t.Errorf("a call whose outcome a person was asked about: %+v", got)
	}
}

func TestTextsAreComparedAndMayBeErasedWithTheirConversation(t *testing.T) {
	w := newWorld(t, false)
	text, err := audit.NewText("shown/1", audit.Shown{Description: "remove it"})
	if err != nil {
		t.Fatal(err)
	}
	w.append(audit.Leaf{ID: "shown/1", Kind: audit.KindShown, At: noon, Conversation: "c", Text: text.Sum()})
	reads := func(t audit.Text, err error) merkle.Evidence {
		return merkle.Evidence{Texts: func(context.Context, audit.Leaf) (audit.Text, error) { return t, err }}
	}
	other := text
	other.Content = bytes.Replace(text.Content, []byte("remove"), []byte("insert"), 1)
	for want, e := range map[merkle.Class]merkle.Evidence{
		"": reads(text, nil), merkle.Altered: reads(other, nil), merkle.Incomplete: reads(audit.Text{}, merkle.ErrNotFound),
	} {
		if r := w.verify(e); r.Class() != want {
			t.Errorf("%q, expected %q", r.Class(), want)
		}
	}
	w.append(audit.Leaf{ID: audit.DeletionID("c"), Kind: audit.KindDeletion, At: noon, Conversation: "c"})
	if r := w.verify(reads(audit.Text{}, merkle.ErrNotFound)); r.Class() != "" {
		t.Errorf("%+v", r)
	}
}

// A call that was approved with changes is another one than the one that was shown.
func TestChangesApproveTheChangedCallOnly(t *testing.T) {
	all := slices.Concat(call(0)...)
	changed := audit.ProposalID(all[0].Conversation, "m0", "resources", "resources_remove", "def")
	proposal := audit.Leaf{ID: changed, Kind: audit.KindProposal, Conversation: all[0].Conversation}
	edit := audit.Leaf{ID: audit.EditID(all[1].Approval), Kind: audit.KindEdit, Approval: all[1].Approval, Proposal: changed}
	as := func(proposal string) []audit.Leaf {
		call, outcome := all[3], all[4]
		call.Proposal, outcome.Proposal = proposal, proposal
		return []audit.Leaf{call, outcome}
	}
	now := noon.Add(24 * time.Hour)
	with := []audit.Leaf{all[0], all[1], edit, all[2], proposal}
	if got := merkle.Sequence(append(slices.Clone(with), as(changed)...), now); len(got.Findings) != 0 {
		t.Errorf("the changed call: %+v", got)
	}
	const unapproved = "people were asked about a call, and it ran without an approval"
	if got := merkle.Sequence(append(slices.Clone(with), as(all[0].ID)...), now); len(got.Findings) != 1 || got.Findings[0].Text != unapproved {
		t.Errorf("the call as it was shown: %+v", got)
	}
	if got := merkle.Sequence(append([]audit.Leaf{all[0], all[1], edit, proposal}, as(changed)...), now); len(got.Findings) != 1 || got.Findings[0].Text != unapproved {
		t.Errorf("without the decision: %+v", got)
	}
	if got := merkle.Sequence([]audit.Leaf{all[0], edit}, now); len(got.Findings) != 1 || got.Findings[0].Text != "changes are of what was not shown before" {
		t.Errorf("changes of nothing: %+v", got)
	}
}
