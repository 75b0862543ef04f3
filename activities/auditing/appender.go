package auditing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/audit/witness"
	"agent-stop-and-go/workflows/contract/audit"
)

// Appender has the activities that write the log and have it countersigned.
type Appender struct {
	Log *merkle.Log
	// Witnesses are those that are reached by HTTP, and Required is how many of them must have signed before a
	// batch counts as written. The others sign later (Cosign).
	Witnesses *witness.Panel
	Required  int
}

// Append writes a batch.
func (a *Appender) Append(ctx context.Context, b audit.Batch) (audit.Head, error) {
	h, err := a.Log.Append(ctx, b.After, b.Leaves)
	if err != nil {
		slog.Error("the audit log cannot be written", "error", err)
		return h, temporal.NewNonRetryableApplicationError(sentence(err), string(audit.KindUnwritten), nil)
	}
	h.Unsigned = a.Witnesses.Len()
	if a.Required > 0 {
		err = a.await(ctx, &h)
	}
	return h, err
}

// await has the witnesses sign. Those leaves stay in the log that too few have signed.
func (a *Appender) await(ctx context.Context, h *audit.Head) error {
	all, err := a.Cosign(ctx, *h)
	if err != nil {
		return err
	}
	var signed []string
	for _, w := range all {
		if w.Size >= h.Size {
			signed = append(signed, w.Name)
		}
	}
	h.Unsigned, h.Signed = len(all)-len(signed), strings.Join(signed, " ")
	if n := len(signed); n < a.Required {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("%d of %d witnesses have signed it, and %d must", n, len(all), a.Required), string(audit.KindUnwritten), nil, audit.Unsigned{Witnesses: all})
	}
	return nil
}

// Cosign has the witnesses sign the newest checkpoint, and says what each has signed.
func (a *Appender) Cosign(ctx context.Context, _ audit.Head) ([]audit.Witnessed, error) {
	all, err := a.Witnesses.Sign(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.Problem != "" {
			slog.Warn("a witness has not signed the newest checkpoint of the audit log", "witness", w.Name, "signed", w.Size, "error", w.Problem)
		}
	}
	return all, nil
}

// sentence is what people who decide see: without the places of files.
func sentence(err error) string {
	for _, known := range []error{merkle.ErrAltered, merkle.ErrForked, merkle.ErrTailMissing} {
		if errors.Is(err, known) {
			return known.Error() + "; agent audit verify says more"
		}
	}
	return "its store fails; the log of the worker says more"
}
