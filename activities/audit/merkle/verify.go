package merkle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"agent-stop-and-go/workflows/contract/audit"
)

// Class is what was done to a log.
type Class string

// The classes, the worst first.
const (
	// Forked: the key has signed two logs. What is here contradicts what the witness, or the server,
	// has seen of the log.
	Forked Class = "forked"
	// Altered: what is here is not what the key has signed.
	Altered Class = "altered"
	// TailMissing: the log was longer.
	TailMissing Class = "tail missing"
	// Incomplete: the log is as it was written, but events lack what must be there with them.
	Incomplete Class = "incomplete"
)

// Classes lists the classes, the worst first.
func Classes() []Class { return []Class{Forked, Altered, TailMissing, Incomplete} }

// Finding is one thing that is wrong.
type Finding struct {
	Class Class  `json:"class"`
	Text  string `json:"text"`
	// Batch is the name of the file, Leaf the ID of the event, if the finding is about one.
	Batch string `json:"batch,omitempty"`
	Leaf  string `json:"leaf,omitempty"`
}

// Report is what Verify has found.
type Report struct {
	Origin  string `json:"origin"`
	Size    int64  `json:"size"`
	Root    string `json:"root,omitempty"`
	Batches int    `json:"batches"`
	// Witnessed is the number of leaves that a witness has countersigned.
	Witnessed int64 `json:"witnessed"`
	// Witnesses are what each has countersigned, by the names of their keys.
	Witnesses map[string]int64 `json:"witnesses,omitempty"`
	Findings  []Finding        `json:"findings"`
	// Open are calls that have begun lately and have no outcome yet.
	Open int `json:"open"`
}

// Class returns the worst class of the findings, or "".
func (r Report) Class() Class {
	for _, c := range Classes() {
		if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Class == c }) {
			return c
		}
	}
	return ""
}

// Evidence is what a log is compared with.
type Evidence struct {
	Origin string
	// Keys are the public keys that the log may be signed with.
	Keys []string
	// Witnesses verify the signatures of witnesses, and Witnessed are checkpoints that were kept elsewhere: notes
	// with the signature of the log, and of a witness if there is any.
	Witnesses []note.Verifier
	Witnessed [][]byte
	// Kept are such checkpoints that are beside the log, by the names of their files.
	Kept map[string][]byte
	// Head is what the server knows of the log; the zero value is nothing.
	Head audit.Head
	// Texts reads the text of a leaf; nil does not check texts.
	Texts func(ctx context.Context, l audit.Leaf) (audit.Text, error)
	// Tombstones returns the sum of the tombstone of a conversation; nil does not check them.
	Tombstones func(ctx context.Context, conversation string) (string, error)
	Now        time.Time
}

// Contents are what a log has.
type Contents struct {
	Leaves []audit.Leaf
	Lines  [][]byte
	Tree   Tree
	// Checkpoint is the newest checkpoint, as a note.
	Checkpoint []byte
}

// Verify reads a whole log and says what is wrong with it. Its error is one of the store or of the
// evidence; a log that was tampered with is no error. The contents are those before the first
// altered batch.
func Verify(ctx context.Context, s Store, e Evidence) (Report, Contents, error) {
	v := verifier{store: s, evidence: e, report: Report{Origin: e.Origin, Witnesses: map[string]int64{}, Findings: []Finding{}}}
	var err error
	if v.keys, err = Verifiers(e.Origin, e.Keys...); err != nil {
		return v.report, v.contents, err
	}
	if err := v.readWitness(); err != nil {
		return v.report, v.contents, err
	}
	if err := v.readBatches(ctx); err != nil {
		return v.report, v.contents, err
	}
	v.compare()
	if v.whole() {
		v.sequence()
	}
	if err := v.texts(ctx); err != nil {
		return v.report, v.contents, err
	}
	return v.report, v.contents, v.tombstones(ctx)
}

type verifier struct {
	store    Store
	evidence Evidence
	keys     note.Verifiers
	report   Report
	contents Contents
	// witnessed and signed are the checkpoints of the evidence and of the log.
	witnessed, signed []Checkpoint
	// broken is set if a batch is not as it was signed.
	broken bool
}

func (v *verifier) add(c Class, batch, leaf, format string, args ...any) {
	v.report.Findings = append(v.report.Findings, Finding{Class: c, Batch: batch, Leaf: leaf, Text: fmt.Sprintf(format, args...)})
}

func (v *verifier) whole() bool {
	return !v.broken
}

// readWitness reads the evidence. A checkpoint there that the log's key has not signed is an error:
// the evidence itself is wrong then.
func (v *verifier) readWitness() error {
	for _, w := range v.evidence.Witnesses {
		v.report.Witnesses[w.Name()] = 0
	}
	for i, text := range v.evidence.Witnessed {
		if err := v.witness(text); err != nil {
			return fmt.Errorf("checkpoint %d of the witness: %w", i+1, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.evidence.Kept)) {
		if err := v.witness(v.evidence.Kept[name]); err != nil {
			v.add(Altered, name, "", "it is no checkpoint that a witness has signed: %v", err)
		}
	}
	return nil
}

// witness takes a checkpoint that the log and a witness have signed.
func (v *verifier) witness(text []byte) error {
	c, err := ParseCheckpoint(text, v.evidence.Origin, v.keys)
	if err != nil {
		return err
	}
	if len(v.evidence.Witnesses) > 0 {
		n, err := note.Open(text, note.VerifierList(v.evidence.Witnesses...))
		if err != nil {
			return err
		}
		for _, s := range n.Sigs {
			v.report.Witnesses[s.Name] = max(v.report.Witnesses[s.Name], c.Size)
		}
	}
	v.witnessed = append(v.witnessed, c)
	v.report.Witnessed = max(v.report.Witnessed, c.Size)
	return nil
}

// readBatches reads the log up to the first batch that is not as it was signed, and the
// checkpoints of all.
func (v *verifier) readBatches(ctx context.Context) error {
	names, err := v.store.List(ctx, folder)
	if err != nil {
		return fmt.Errorf("list the batches: %w", err)
	}
	v.report.Batches = len(names)
	intact := true
	for n, name := range names {
		if intact && name != batchName(int64(n)) {
			intact, v.broken = false, true
			v.add(Altered, batchName(int64(n)), "", "batch %d is missing, and %s is there", n, name)
		}
		text, err := v.store.Read(ctx, name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		b, err := parseBatch(text)
		var c Checkpoint
		if err == nil {
			c, err = ParseCheckpoint(b.checkpoint, v.evidence.Origin, v.keys)
		}
		if err == nil {
			v.signed = append(v.signed, c)
		}
		if intact && err == nil {
			err = v.take(b, c)
		}
		if intact && err != nil {
			intact, v.broken = false, true
			v.add(Altered, name, "", "leaves %d and after: %v", v.contents.Tree.Size(), err)
		}
	}
	v.report.Size = v.contents.Tree.Size()
	root, err := v.contents.Tree.Root(v.report.Size)
	v.report.Root = root.String()
	return err
}

// take adds a batch to the contents, or nothing.
func (v *verifier) take(b batch, c Checkpoint) error {
	before := v.contents.Tree.Size()
	leaves, err := addBatch(&v.contents.Tree, b, c)
	if err != nil {
		v.contents.Tree.cut(before)
		return err
	}
	v.contents.Leaves, v.contents.Lines = append(v.contents.Leaves, leaves...), append(v.contents.Lines, b.lines...)
	v.contents.Checkpoint = b.checkpoint
	return nil
}

// compare looks for another log of the same key, and for an end that is missing.
func (v *verifier) compare() {
	if a, b, found := contradiction(append(slices.Clone(v.signed), v.witnessed...)); found {
		v.add(Forked, "", "", "the key has signed two logs of %d leaves: %s and %s", a.Size, a.Root, b.Root)
		return
	}
	seen := slices.Clone(v.witnessed)
	if h := v.evidence.Head; h.Size > 0 {
		if root, err := parseRoot(h); err == nil {
			seen = append(seen, Checkpoint{Size: h.Size, Root: root})
		}
	}
	longest := v.contents.Tree.Size()
	for _, c := range v.signed {
		longest = max(longest, c.Size)
	}
	for _, c := range seen {
		switch root, err := v.contents.Tree.Root(c.Size); {
		case err == nil && c.Size > 0 && root != c.Root:
			v.add(Forked, "", "", "the first %d leaves are not those that were seen before: %s here, %s there", c.Size, root, c.Root)
			return
		case c.Size > longest && v.whole():
			v.add(TailMissing, "", "", "there were %d leaves, and there are %d", c.Size, longest)
			return
		}
	}
}

func parseRoot(h audit.Head) (tlog.Hash, error) { return tlog.ParseHash(h.Root) }

// contradiction returns two checkpoints of one size with different roots.
func contradiction(all []Checkpoint) (a, b Checkpoint, found bool) {
	roots := map[int64]Checkpoint{}
	for _, c := range all {
		if known, there := roots[c.Size]; there && known.Root != c.Root {
			return known, c, true
		}
		roots[c.Size] = c
	}
	return a, b, false
}
