package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract"
)

// Receiver is how errors speak of a web hook.
type Receiver struct {
	// Name is what it is called, such as "the webhook", and Private what permits addresses that are
	// not public, or "".
	Name, Private string
}

// maxDrain bounds the bytes read of an answer.
const maxDrain = 4 << 10

// Post sends a request to a web hook. It returns the status of the answer, and how long that asks to
// wait. Without an answer the error is that of an activity: contract.KindPushRefused or
// KindPushUnavailable. It never has the URL, which may be a secret.
func (r Receiver) Post(client *http.Client, q *http.Request, now func() time.Time) (status int, wait time.Duration, err error) {
	answer, err := client.Do(q)
	if err != nil {
		return 0, 0, r.unreached(q.Context(), err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxDrain) // so that the connection can be used again
	return answer.StatusCode, retryAfter(answer.Header.Get("Retry-After"), now()), nil
}

func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(at.Sub(now), 0)
}

// unreached classifies an error of the HTTP client.
func (r Receiver) unreached(ctx context.Context, err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err
	}
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ctx.Err()
	case errors.Is(err, outbound.ErrRefused) && r.Private != "":
		return fail(contract.KindPushRefused, r.Name+" was not called: it leads to an address that is not public ("+r.Private+")", 0)
	case errors.Is(err, outbound.ErrRefused):
		return fail(contract.KindPushRefused, r.Name+" was not called: it leads to an address that is not public", 0)
	case sent != nil && sent.Timeout():
		return fail(contract.KindPushUnavailable, r.Name+" gave no answer in time", 0)
	}
	return fail(contract.KindPushUnavailable, r.Name+" was not reached: "+err.Error(), 0)
}

func fail(kind contract.Kind, message string, after time.Duration) error {
	return temporal.NewApplicationErrorWithOptions(message, string(kind), temporal.ApplicationErrorOptions{NonRetryable: kind.Permanent(), NextRetryDelay: after})
}
