package hosting

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// IdempotencyKey is the _meta key for the idempotency key of a writing call. Sending the call
// again with the same key returns the first result and changes nothing.
const IdempotencyKey = "agent-stop-and-go/idempotency-key"

// IdempotencyCapability is the experimental capability of servers that recognise repeated calls
// by their key. After an error that leaves open whether a call arrived, callers may repeat it
// only on such servers.
const IdempotencyCapability = "agent-stop-and-go/idempotency"

// WithIdempotency declares [IdempotencyCapability]. All writing tools of the server must use
// [ParseCallKey].
func WithIdempotency() server.ServerOption {
	return server.WithExperimental(map[string]any{IdempotencyCapability: map[string]any{}})
}

// ResultRetention is how long the result of a writing call is stored.
const ResultRetention = 7 * 24 * time.Hour

// ErrKeyReused reports an idempotency key that was first used for another tool
// or with other arguments. Nothing was changed.
var ErrKeyReused = errors.New("idempotency key was already used for a different call")

// CallKey identifies a call that may be repeated. The zero value is a call without idempotency
// key.
type CallKey struct {
	Key        string
	ArgsSHA256 string
}

const maxKey = 1 << 10 // bytes

// ParseCallKey reads the idempotency key of a call. The hash covers args in sorted order, so args
// must not contain arguments that count as absent.
func ParseCallKey(request mcp.CallToolRequest, args map[string]json.RawMessage) (CallKey, error) {
	if request.Params.Meta == nil {
		return CallKey{}, nil
	}
	value, ok := request.Params.Meta.AdditionalFields[IdempotencyKey]
	if !ok {
		return CallKey{}, nil
	}
	key, ok := value.(string)
	if !ok || key == "" {
		return CallKey{}, fmt.Errorf("_meta %s must be a non-empty string", IdempotencyKey)
	}
	if len(key) > maxKey {
		return CallKey{}, fmt.Errorf("_meta %s is too long: %d bytes, at most %d are allowed", IdempotencyKey, len(key), maxKey)
	}
	canonical, err := json.Marshal(args) // sorts keys and drops white space
	if err != nil {
		return CallKey{}, fmt.Errorf("encode arguments: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return CallKey{Key: key, ArgsSHA256: hex.EncodeToString(sum[:])}, nil
}

const (
	maxResults    = 10_000
	maxResultSize = 32 << 20 // total size of the stored results
	resultCost    = 512      // overhead of one result in memory
)

// Results stores the results of writing calls in memory, for servers without a database that
// could store the result together with the change. Beyond 10,000 results or 32 MiB the oldest
// are dropped. The zero value is ready to use.
type Results struct {
	mu    sync.Mutex
	calls map[string]*storedCall
	ended []*storedCall // calls with a result, oldest first
	size  int
}

type storedCall struct {
	key, tool, args string
	done            chan struct{}   // closed when the call has ended
	result          json.RawMessage // nil when it failed
	at              time.Time
}

// Do returns the result of do, or the JSON of the first call with the same key. If a call
// with that key is running it waits for it, at most until ctx ends. Failures are not stored, so
// that the call can be repeated.
func (r *Results) Do(ctx context.Context, tool string, callKey CallKey, do func() (any, error)) (any, error) {
	if callKey.Key == "" {
		return do()
	}
	for {
		call, isFirst, err := r.enter(tool, callKey)
		if err != nil {
			return nil, err
		}
		if isFirst {
			return r.run(call, do)
		}
		select {
		case <-call.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if call.result != nil {
			return call.result, nil
		}
	}
}

// enter returns the stored call with the key, or registers a new one.
func (r *Results) enter(tool string, callKey CallKey) (call *storedCall, isFirst bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune(time.Now())
	if call = r.calls[callKey.Key]; call == nil {
		call = &storedCall{key: callKey.Key, tool: tool, args: callKey.ArgsSHA256, done: make(chan struct{})}
		if r.calls == nil {
			r.calls = map[string]*storedCall{}
		}
		r.calls[callKey.Key] = call
		return call, true, nil
	}
	if call.tool != tool || call.args != callKey.ArgsSHA256 {
		return nil, false, ErrKeyReused
	}
	return call, false, nil
}

// run runs the call. A panic of do counts as a failure.
func (r *Results) run(call *storedCall, do func() (any, error)) (any, error) {
	var text json.RawMessage
	defer func() { r.end(call, text) }()
	result, err := do()
	if err != nil {
		return nil, err
	}
	text, err = encode(result)
	return result, err
}

// encode does not escape <, > and &, so that the text of a repeated call is the same.
func encode(result any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(result); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return bytes.TrimSpace(text.Bytes()), nil
}

func (r *Results) end(call *storedCall, text json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer close(call.done)
	if text == nil {
		delete(r.calls, call.key)
		return
	}
	call.result, call.at = text, time.Now()
	r.ended = append(r.ended, call)
	r.size += call.cost()
	r.prune(call.at)
}

// prune drops expired results, and the oldest ones beyond the limits.
func (r *Results) prune(now time.Time) {
	for len(r.ended) > 0 {
		oldest := r.ended[0]
		if len(r.ended) <= maxResults && r.size <= maxResultSize && now.Sub(oldest.at) < ResultRetention {
			return
		}
		r.size -= oldest.cost()
		delete(r.calls, oldest.key)
		r.ended[0] = nil
		r.ended = r.ended[1:]
	}
}

func (c *storedCall) cost() int { return len(c.key) + len(c.result) + resultCost }
