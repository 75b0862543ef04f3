package auditor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/workflows/contract/audit"
)

// Export returns what proves the events of a conversation. The checkpoint is the witness's if that
// has signed all of them.
func (r *Reader) Export(ctx context.Context, conversation string) (e merkle.Export, err error) {
	if err := r.Intact(); err != nil {
		return e, err
	}
	wants := func(l audit.Leaf) bool { return l.Conversation == conversation }
	last := int64(-1)
	for i, l := range r.Contents.Leaves {
		if wants(l) {
			last = int64(i)
		}
	}
	if last < 0 {
		return e, fmt.Errorf("the audit log has nothing of conversation %s", conversation)
	}
	checkpoint, size, keys := r.Contents.Checkpoint, r.Contents.Tree.Size(), r.Evidence.Keys
	if signed, n, by := r.countersigned(last, size); n > 0 {
		checkpoint, size, keys = signed, n, append(keys[:len(keys):len(keys)], by...)
	}
	if e, err = r.Contents.Prove(checkpoint, size, wants); err != nil {
		return e, err
	}
	e.Conversation, e.Keys = conversation, keys
	for i := range e.Leaves {
		l := r.Contents.Leaves[e.Leaves[i].Index]
		if l.Text == "" {
			continue
		}
		t, err := auditing.ReadText(ctx, r.files, l)
		if errors.Is(err, fs.ErrNotExist) { // erased
			continue
		}
		if err != nil {
			return e, err
		}
		e.Leaves[i].Text = &t
	}
	return e, nil
}

// countersigned returns the checkpoint that most witnesses have signed, and of those the newest, with all of
// their signatures: of more than last leaves, and at most size. by are the public keys of those who have signed
// it. n is 0 if there is none.
func (r *Reader) countersigned(last, size int64) (text []byte, n int64, by []string) {
	signed := map[int64]*note.Note{}
	for _, one := range append(slices.Collect(maps.Values(r.Evidence.Kept)), r.Evidence.Witnessed...) {
		c, err := note.Open(one, note.VerifierList(r.Evidence.Witnesses...))
		if err != nil {
			continue
		}
		checkpoint, err := merkle.ParseCheckpoint(one, r.Evidence.Origin, r.keys())
		if err != nil || checkpoint.Size <= last || checkpoint.Size > size {
			continue
		}
		if signed[checkpoint.Size] == nil {
			signed[checkpoint.Size] = &note.Note{Text: c.Text, UnverifiedSigs: c.UnverifiedSigs}
		}
		all := signed[checkpoint.Size]
		for _, s := range c.Sigs {
			if !slices.ContainsFunc(all.Sigs, func(o note.Signature) bool { return o.Name == s.Name && o.Hash == s.Hash }) {
				all.Sigs = append(all.Sigs, s)
			}
		}
	}
	var best *note.Note
	for _, of := range slices.Sorted(maps.Keys(signed)) {
		if best == nil || len(signed[of].Sigs) >= len(best.Sigs) {
			best, n = signed[of], of
		}
	}
	if best == nil {
		return nil, 0, nil
	}
	text, err := note.Sign(&note.Note{Text: best.Text, Sigs: append(slices.Clone(best.UnverifiedSigs), best.Sigs...)})
	if err != nil {
		return nil, 0, nil
	}
	for _, s := range best.Sigs {
		by = append(by, r.publicKeys[fmt.Sprintf("%s+%08x", s.Name, s.Hash)])
	}
	return text, n, by
}

// keys are those of the log.
func (r *Reader) keys() note.Verifiers {
	keys, err := merkle.Verifiers(r.Evidence.Origin, r.Evidence.Keys...)
	if err != nil {
		return note.VerifierList()
	}
	return keys
}
