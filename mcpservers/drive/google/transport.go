package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	attempts   = 5
	maxPause   = 20 * time.Second
	maxRefusal = 64 << 10 // bytes of the body of an error that are read
)

// firstPause is the time before the second attempt. It doubles with each.
var firstPause = 500 * time.Millisecond

// change is what is known of a request that changes something.
type change struct {
	repeatable bool        // the same request twice changes what one does
	sent       atomic.Bool // something of it was sent
}

type changeKey struct{}

// changing returns the context of one request that changes something.
func changing(ctx context.Context, repeatable bool) context.Context {
	return context.WithValue(ctx, changeKey{}, &change{repeatable: repeatable})
}

// changeOf returns nil for a request that reads.
func changeOf(ctx context.Context) *change {
	c, _ := ctx.Value(changeKey{}).(*change)
	return c
}

// transport adds tokens to requests, and repeats them.
type transport struct {
	next       http.RoundTripper
	credential Credential
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, c := request.Context(), changeOf(request.Context())
	if c != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { c.sent.Store(true) }})
	}
	renewed := false
	for attempt := 1; ; attempt++ {
		token, err := t.credential.Token(ctx)
		if err != nil {
			closeBody(request)
			return nil, err
		}
		once := request.Clone(ctx)
		once.Header.Set("Authorization", "Bearer "+token)
		if attempt > 1 && request.GetBody != nil {
			if once.Body, err = request.GetBody(); err != nil {
				return nil, err
			}
		}
		response, err := t.next.RoundTrip(once)
		if err == nil && response.StatusCode == http.StatusUnauthorized && !renewed && t.credential.Refused(token) {
			renewed = true
		} else if !t.again(c, response, err) {
			return response, err
		}
		if attempt == attempts || request.Body != nil && request.GetBody == nil || !sleep(ctx, pause(response, attempt)) {
			return response, err
		}
		if response != nil {
			_ = response.Body.Close()
		}
	}
}

func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close()
	}
}

// again reports whether a request may be sent once more. A request that was refused for its rate changed
// nothing.
func (t *transport) again(c *change, response *http.Response, err error) bool {
	doubt := c == nil || c.repeatable
	switch {
	case err != nil:
		return doubt && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, errCredential)
	case response.StatusCode == http.StatusTooManyRequests:
		return true
	case response.StatusCode == http.StatusForbidden:
		return slices.Contains([]string{"rateLimitExceeded", "userRateLimitExceeded"}, reasonOf(response))
	}
	return doubt && response.StatusCode >= 500
}

// reasonOf reads the reason of an error, and leaves the body as it was.
func reasonOf(response *http.Response) string {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), response.Body), response.Body}
	var refusal struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &refusal) != nil || len(refusal.Error.Errors) == 0 {
		return ""
	}
	return refusal.Error.Errors[0].Reason
}

// pause is the time before the next attempt: what Drive asks for, or longer each time.
func pause(response *http.Response, attempt int) time.Duration {
	if response != nil {
		if response.StatusCode == http.StatusUnauthorized {
			return 0
		}
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
			return min(time.Duration(seconds)*time.Second, maxPause)
		}
	}
	longest := min(firstPause<<(attempt-1), maxPause)
	return longest/2 + rand.N(longest/2+1)
}

// sleep reports whether there is time for another attempt afterwards.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
