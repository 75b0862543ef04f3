package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"agent-stop-and-go/activities/llm"
)

// answer reads a stream of events into a draft
// (platform.claude.com/docs/en/build-with-claude/streaming). A whole message is read as if
// it were a stream.
type answer struct {
	*llm.Draft
	blocks []*block
	open   map[int64]*block // by their index in the events
	ended  bool
	// fresh, written and cached count input tokens: not cached, written to the
	// provider's cache, and read from it.
	fresh, written, cached int64
}

// events reads a stream to its end. The SDK's reader skips events without a name, which some
// gateways send; the data has the name too.
func (a *answer) events(res *http.Response) error {
	decoder := ssestream.NewDecoder(res)
	for !a.ended && decoder.Next() {
		if err := a.frame(decoder.Event()); err != nil {
			return err
		}
	}
	switch {
	case a.ended:
		return nil
	case decoder.Err() != nil:
		return a.Fail(decoder.Err())
	}
	return a.EndedEarly()
}

func (a *answer) frame(f ssestream.Event) error {
	var e anthropic.MessageStreamEventUnion
	switch err := json.Unmarshal(f.Data, &e); {
	case len(bytes.TrimSpace(f.Data)) == 0:
		return nil
	case f.Type == "error" || err == nil && e.Type == "error":
		return a.errorOf(f.Data)
	case err != nil:
		return a.Fail(err)
	}
	return a.event(e)
}

// event handles one event. Events of other types do not affect the reply.
func (a *answer) event(e anthropic.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		a.start(e.Message)
	case "content_block_start":
		return a.begin(e.Index, e.ContentBlock.RawJSON())
	case "content_block_delta":
		return a.delta(e.Index, e.Delta)
	case "content_block_stop":
		return a.end(e.Index)
	case "message_delta":
		a.setUsage(e.Usage.InputTokens, e.Usage.CacheCreationInputTokens, e.Usage.CacheReadInputTokens, e.Usage.OutputTokens)
		a.setFinish(e.Delta.StopReason, e.Delta.StopDetails)
	case "message_stop":
		a.ended = true
		return a.close()
	}
	return nil
}

func (a *answer) delta(index int64, d anthropic.MessageStreamEventUnionDelta) error {
	b := a.open[index]
	if b == nil {
		return a.Garbage("a piece of a block that did not begin")
	}
	switch d.Type {
	case "text_delta":
		return a.addToField(b, "text", d.Text)
	case "thinking_delta":
		return a.addToField(b, "thinking", d.Thinking)
	case "signature_delta":
		return a.addToField(b, "signature", d.Signature)
	case "input_json_delta":
		return a.addToField(b, "input", d.PartialJSON)
	}
	return nil
}

// whole reads a message that was not streamed.
func (a *answer) whole(res *http.Response) error {
	body, err := llm.ReadBounded(res)
	if err != nil {
		return a.Fail(err)
	}
	var kind struct{ Error json.RawMessage }
	var m anthropic.Message
	switch {
	case json.Unmarshal(body, &kind) != nil || json.Unmarshal(body, &m) != nil:
		return a.Fail(errors.New("no JSON"))
	case len(kind.Error) > 0 && string(kind.Error) != "null":
		return a.errorOf(body)
	case !m.JSON.Content.Valid():
		return a.Garbage("no content in the message")
	}
	a.start(m)
	for i, b := range m.Content {
		if err := a.begin(int64(i), b.RawJSON()); err != nil {
			return err
		}
	}
	a.setFinish(m.StopReason, m.StopDetails)
	return a.close()
}

func (a *answer) start(m anthropic.Message) {
	a.Author = m.Model
	a.setUsage(m.Usage.InputTokens, m.Usage.CacheCreationInputTokens, m.Usage.CacheReadInputTokens, m.Usage.OutputTokens)
}

// setUsage stores token counts. Each is a total so far; an event may omit any of them.
func (a *answer) setUsage(fresh, written, cached, output int64) {
	a.fresh, a.written, a.cached = max(a.fresh, fresh), max(a.written, written), max(a.cached, cached)
	a.Usage.InputTokens = a.fresh + a.written + a.cached
	a.Usage.CachedTokens = a.cached
	a.Usage.OutputTokens = max(a.Usage.OutputTokens, output)
}

// setFinish stores the stop reason, as a constant of llm if there is one.
func (a *answer) setFinish(reason anthropic.StopReason, details anthropic.RefusalStopDetails) {
	switch reason {
	case "", anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonToolUse:
		a.Finish = llm.FinishStop // becomes tool_calls if there is a call
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded, anthropic.StopReasonPauseTurn:
		a.Finish = llm.FinishLength
	case anthropic.StopReasonRefusal:
		a.Finish, a.Refusal = llm.FinishRefusal, llm.Join(a.Text(), details.Explanation)
		if a.Refusal == "" {
			a.Refusal = llm.Withheld
		}
	default:
		a.Finish = string(reason)
	}
}

// errorStatus maps error types to the HTTP status that they have before an answer begins
// (platform.claude.com/docs/en/api/errors).
var errorStatus = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
	"overloaded_error": 529,
}

// errorOf returns the error in an answer with status 200.
func (a *answer) errorOf(body []byte) error {
	status := errorStatus[llm.FailureType(body)]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	return a.Fail(&llm.StatusError{Status: status, Header: http.Header{}, Body: body})
}
