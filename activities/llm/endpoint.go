package llm

import (
	"context"
	"fmt"
	"net/http"

	"agent-stop-and-go/workflows/contract"
)

// Endpoint is a model at its provider: everything that a call needs besides the request.
type Endpoint struct {
	// Entry has the KeyVariable and the Timeout that count.
	Entry
	Key     string // empty: none is needed
	Address string // an http or https URL
	// Headers are those of every request to the model, besides the ones of its wire
	// format. Those of its Entry win.
	Headers map[string]string
	HTTP    *http.Client
}

// ReplyLimit is how many tokens a reply may have; 0 leaves it to the provider.
func (e Endpoint) ReplyLimit(r Request) int {
	if r.MaxTokens > 0 && e.MaxTokens > 0 {
		return min(r.MaxTokens, e.MaxTokens)
	}
	return max(r.MaxTokens, e.MaxTokens)
}

// NativeOf is a turn in the provider's own form, if this provider gave it.
func (e Endpoint) NativeOf(t Turn) *Native {
	if t.Native == nil || t.Native.Provider != e.Provider || t.Native.Model != e.Model {
		return nil
	}
	return t.Native
}

// Generate makes one call within the model's time, and reports whose limit ended it.
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
