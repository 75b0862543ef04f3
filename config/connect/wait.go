package connect

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
)

// pause is how long WhenUp waits between two attempts where nothing else is said.
const pause = 3 * time.Second

// WhenUp does something that needs the server. While the server does not answer, or does
// not have the namespace yet, it waits and tries again, with a line in the log each time.
// It returns another failure at once, and ctx's when that ends.
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
