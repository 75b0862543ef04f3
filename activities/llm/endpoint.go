package llm

import (
	"context"
	"fmt"
	"net/http"

	"agent-stop-and-go/workflows/contract"
)

// Endpoint is a model at its provider: everything that a call needs besides the request.
type Endpoint struct {
	// Entry has the effective KeyVariable and Timeout.
	Entry
	Key     string // empty if none is needed
	Address string // an http or https URL
	// Headers are sent with every request to the model, besides those of its wire
	// format. Headers of its Entry override them.
	Headers map[string]string
	HTTP    *http.Client
}

// ReplyLimit returns the maximum number of tokens of a reply; 0 leaves it to the provider.
func (e Endpoint) ReplyLimit(r Request) int {
	if r.MaxTokens > 0 && e.MaxTokens > 0 {
		return min(r.MaxTokens, e.MaxTokens)
	}
	return max(r.MaxTokens, e.MaxTokens)
}

// NativeOf returns a turn in the provider's own form, or nil if another provider or model gave
// it.
func (e Endpoint) NativeOf(t Turn) *Native {
	if t.Native == nil || t.Native.Provider != e.Provider || t.Native.Model != e.Model {
		return nil
	}
	return t.Native
}

// Generate makes one call within the model's timeout. The error of a timeout names the limit
// that was reached.
func (e Endpoint) Generate(ctx context.Context, format Format, req Request) (Reply, error) {
	call, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	m := e.mask(req.Secrets...)
	deltas, end := newMaskedDeltas(m, req.Deltas)
	req.Deltas = deltas
	reply, err := format(call, e, req)
	if err == nil {
		end()
		reply = withoutSecrets(m, e.textCalls(reply, req.Tools))
		reply.Usage.Calls, reply.Usage.Cost = 1, e.Price.cost(reply.Usage)
		return reply, nil
	}
	if call.Err() == nil {
		return reply, err
	}
	failed := &Error{Kind: contract.KindModelUnavailable, Err: call.Err()}
	if failed.Message = fmt.Sprintf("%s did not answer within %s", e.Provider, e.Timeout); ctx.Err() != nil {
		failed.Err, failed.Message = ctx.Err(), fmt.Sprintf("the call to %s was cancelled", e.Provider)
	}
	return Reply{}, failed
}
