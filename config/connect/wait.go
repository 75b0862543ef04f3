package connect

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
)

// pause is the default of Options.Pause.
const pause = 3 * time.Second

// WhenUp calls do. While the server does not answer, or the namespace does not exist yet, it
// logs a line, waits and tries again. It returns any other error at once, and the error of
// ctx when that ends.
func WhenUp(ctx context.Context, o Options, address string, do func(context.Context) error) error {
	every := o.Pause
	if every <= 0 {
		every = pause
	}
	began := time.Now()
	for {
		err := do(ctx)
		switch {
		case err == nil || !isAway(err):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		o.Logger.Warn("Temporal is not there yet: waiting for it", "address", address,
			"waited", time.Since(began).Round(time.Second), "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
}

func isAway(err error) bool {
	return isType[*serviceerror.Unavailable](err) || isType[*serviceerror.DeadlineExceeded](err) ||
		isType[*serviceerror.NamespaceNotFound](err) || isType[*serviceerror.Canceled](err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func isType[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
