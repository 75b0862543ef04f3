package auditing

import (
	"context"
	"errors"
	"log/slog"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/workflows/contract/audit"
)

// Appender has the activity that writes the log.
type Appender struct{ Log *merkle.Log }

// Append writes a batch.
func (a *Appender) Append(ctx context.Context, b audit.Batch) (audit.Head, error) {
	h, err := a.Log.Append(ctx, b.After, b.Leaves)
	if err != nil {
		slog.Error("the audit log cannot be written", "error", err)
		return h, temporal.NewNonRetryableApplicationError(sentence(err), string(audit.KindUnwritten), nil)
	}
	return h, nil
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
