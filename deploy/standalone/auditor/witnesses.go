package auditor

import (
	"context"
	"errors"
	"fmt"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/audit/witness"
)

// retrieve asks witnesses for the newest checkpoint that each has signed, before the log is read: it only
// grows. It returns those that do not say.
func (r *Reader) retrieve(ctx context.Context, all []*witness.Remote, e *merkle.Evidence) (silent []*witness.Remote) {
	keys, err := merkle.Verifiers(e.Origin, e.Keys...)
	if err != nil {
		return nil // Verify says so
	}
	for _, w := range all {
		asking, cancel := context.WithTimeout(ctx, witness.Timeout)
		text, err := w.Newest(asking, e.Origin)
		cancel()
		if err == nil {
			_, err = merkle.ParseCheckpoint(text, e.Origin, keys)
		}
		switch {
		case errors.Is(err, witness.ErrNoRetrieval):
			silent = append(silent, w)
		case err != nil:
			r.unasked(w, err)
		default:
			e.Witnessed = append(e.Witnessed, text)
		}
	}
	return silent
}

func (r *Reader) unasked(w *witness.Remote, err error) {
	r.Unasked = append(r.Unasked, fmt.Sprintf("%s: %v", w.Verifier().Name(), err))
}

// submit has witnesses sign the log as it is, which those do that have not signed another one.
func (r *Reader) submit(ctx context.Context, silent []*witness.Remote) {
	size := r.Contents.Tree.Size()
	if size == 0 {
		return
	}
	for _, w := range silent {
		asking, cancel := context.WithTimeout(ctx, witness.Timeout)
		_, err := w.Sign(asking, min(r.Report.Witnesses[w.Verifier().Name()], size), r.Contents.Checkpoint, size, r.Contents.Tree.Prove)
		cancel()
		f := merkle.Finding{Class: merkle.Forked, Text: fmt.Sprintf("%s: %v", w.Verifier().Name(), err)}
		switch {
		case err == nil:
			r.Report.Witnesses[w.Verifier().Name()] = size
			r.Report.Witnessed = max(r.Report.Witnessed, size)
		case errors.Is(err, witness.ErrForked):
			r.Report.Findings = append(r.Report.Findings, f)
		case errors.Is(err, merkle.ErrTailMissing):
			f.Class = merkle.TailMissing
			r.Report.Findings = append(r.Report.Findings, f)
		default:
			r.unasked(w, err)
		}
	}
}
