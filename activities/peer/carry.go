package peer

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

var errWorkerEnded = errors.New("the worker that sent the message has ended")

// carry sends a message. One that is destructive is sent once, or, to an agent that
// declares that it knows messages again, a few times. Its error is uncertain unless it
// was not sent or was refused unread each time.
func (x *exchange) carry(ctx context.Context, send func(context.Context) (*task, error)) (*task, error) {
	if !x.m.Destructive {
		return send(ctx)
	}
	lost := x.m.Repeated
	if lost && !x.remembers {
		return nil, x.doubt(errWorkerEnded)
	}
	for try := 1; ; try++ {
		t, err := send(ctx)
		if err == nil {
			return t, nil
		}
		lost = lost || !unsent(err) && !refusedUnread(err)
		switch {
		case !lost:
			return nil, err
		case !x.remembers || try == tries || ctx.Err() != nil:
			return nil, x.doubt(err)
		}
		x.rest(ctx, firstPause)
	}
}

// await is watch for a task that a message has begun or moved: what goes wrong from
// then on says nothing of the message.
func (x *exchange) await(ctx context.Context, last *task) (*task, error) {
	t, err := x.watch(ctx, last)
	if err != nil && x.m.Destructive {
		return nil, x.doubt(err)
	}
	return t, err
}

func (x *exchange) doubt(err error) *uncertain {
	var known *uncertain
	if errors.As(err, &known) {
		err = known.err
	}
	return &uncertain{err: err, destructive: x.m.Destructive}
}

// single reports whether a request must not reach the agent a second time.
func (x *exchange) single(method string) bool {
	verbs := methods[x.protocol]
	return x.m.Destructive && !x.remembers && (method == verbs.send || method == verbs.stream)
}

// unsent reports whether not one byte of a request was sent.
func unsent(err error) bool {
	var wire *wireError
	return errors.As(err, &wire) && !wire.sent
}

// refusedUnread reports whether the agent refused a message as such, before it did
// anything. Internal errors and most statuses do not say so.
func refusedUnread(err error) bool {
	if errors.As(err, new(*uncertain)) {
		return false
	}
	var status *statusError
	if errors.As(err, &status) {
		return slices.Contains(refusalStatuses, status.Status)
	}
	return isCode(err, codeParse, codeRequest, codeMethod, codeParams, codeTaskNotFound, codeUnsupported, codeContentType,
		codeExtension, codeVersion, codeUnauthorized, codePermission)
}

var refusalStatuses = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusLengthRequired,
	http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusUpgradeRequired,
	http.StatusRequestHeaderFieldsTooLarge,
}
