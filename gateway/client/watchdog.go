package client

import (
	"context"
	"errors"
	"io"
	"time"
)

const (
	// silence is how long a stream may say nothing. A live one says something at least four times
	// as often.
	silence = time.Minute
	// maxWait is how long a reply may take. An agent answers a request within its request_timeout,
	// and with 202 if it needs longer; a longer request_timeout costs a repetition.
	maxWait = 5 * time.Minute
)

var errSilent = errors.New("it says nothing; the connection may be dead")

// watchdog ends a request whose server says nothing.
type watchdog struct {
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
	ctx    context.Context
}

// watch returns a context that ends when nothing was read for the limit.
func watch(ctx context.Context, limit time.Duration) (context.Context, *watchdog) {
	w := &watchdog{limit: limit}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(limit, func() { w.cancel(errSilent) })
	return w.ctx, w
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain returns the error of a request, or the silence that ended it.
func (w *watchdog) explain(ctx context.Context, err error) error {
	if ctx.Err() == nil && errors.Is(context.Cause(w.ctx), errSilent) {
		return errSilent
	}
	return err
}

// reader returns a reader each of whose reads the watchdog notices.
func (w *watchdog) reader(r io.Reader) io.Reader { return watchedReader{r, w} }

type watchedReader struct {
	io.Reader
	dog *watchdog
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.dog.timer.Reset(r.dog.limit)
	}
	return n, err
}
