package auditor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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
	if n := len(r.Evidence.Witnessed); n > 0 && r.Report.Witnessed > last && r.Report.Witnessed <= size {
		checkpoint, size, keys = r.Evidence.Witnessed[n-1], r.Report.Witnessed, append(keys[:len(keys):len(keys)], r.Evidence.WitnessKey)
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
