package gemini

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// rpcStatus is the error of an answer: a google.rpc.Status with its HTTP status
// as code (google.aip.dev/193).
type rpcStatus struct {
	Code    int `json:"code"`
	Details []struct {
		Reason     string `json:"reason"`     // from a google.rpc.ErrorInfo
		RetryDelay string `json:"retryDelay"` // from a google.rpc.RetryInfo, "17s"
	} `json:"details"`
}

// errorInBody returns the error of a failure in an answer with status 200, for instance in the
// middle of a stream.
func errorInBody(said, body json.RawMessage) error {
	var s rpcStatus
	if json.Unmarshal(said, &s) != nil || s.Code < 400 {
		s.Code = http.StatusInternalServerError
	}
	return &llm.StatusError{Status: s.Code, Header: http.Header{}, Body: body}
}

// failed is llm.Endpoint.Fail. It also reads the details of an error: how long to wait, and
// whether a refused request had a bad key.
func (g gemini) failed(err error) error {
	var done *llm.Error
	if errors.As(err, &done) {
		return done
	}
	failure := g.Fail(err)
	var status *llm.StatusError
	if !errors.As(err, &status) {
		return failure
	}
	for _, d := range detailsOf(status.Body).Details {
		if d.Reason == "API_KEY_INVALID" {
			failure.Kind = contract.KindModelAuth
		}
		if wait := delay(d.RetryDelay); wait > 0 && failure.RetryAfter == 0 && !failure.Kind.Permanent() {
			failure.RetryAfter = wait
		}
	}
	return failure
}

// detailsOf reads an error body. The streaming method wraps it in a list if it fails before
// its first event.
func detailsOf(body []byte) rpcStatus {
	var failure struct {
		Error rpcStatus `json:"error"`
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	_ = json.Unmarshal(body, &failure) // an unreadable body has no details
	return failure.Error
}

// delay reads a google.protobuf.Duration.
func delay(text string) time.Duration {
	seconds, err := strconv.ParseFloat(strings.TrimSuffix(text, "s"), 64)
	if err != nil {
		return 0
	}
	return llm.Wait(seconds)
}
