package request

import (
	"net/http"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	headerKey = "Idempotency-Key"
	maxKey    = 255
)

// IdempotencyKey returns the caller's key, or "".
func IdempotencyKey(r *http.Request) (string, error) {
	values := r.Header.Values(headerKey)
	if len(values) == 0 {
		return "", nil
	}
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(values) > 1 || values[0] == "" || len(values[0]) > maxKey || strings.ContainsFunc(values[0], invisible) {
		return "", service.Errorf(contract.KindInvalid, "%s: expected one value of 1 to %d visible ASCII characters", headerKey, maxKey)
	}
	return values[0], nil
}
