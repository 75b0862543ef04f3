package llmtest

import "encoding/json"

// claudeEvents collects the frames of an answer.
type claudeEvents struct {
	frames []string
	blocks int
}

func (anthropic) events(s outcome) []string {
	var e claudeEvents
	e.add("message_start", map[string]any{"message": claudeStart(s)})
	if s.thoughts != "" {
		e.block(claudeThinking{Type: "thinking"}, append(
			deltas("thinking_delta", "thinking", pieces(s.thoughts)...),
			deltas("signature_delta", "signature", signature(s.thoughts))...)...)
	}
	if s.text != "" {
		e.block(claudeText{Type: "text"}, deltas("text_delta", "text", pieces(s.text)...)...)
	}
	for _, c := range s.calls {
		// The API begins arguments with an empty piece.
		parts := append([]string{""}, pieces(string(c.Arguments))...)
		e.block(claudeCall{"tool_use", c.ID, c.Name, json.RawMessage("{}")}, deltas("input_json_delta", "partial_json", parts...)...)
	}
	if e.blocks == 0 {
		e.add("ping", nil)
	}
	usage := claudeStart(s).Usage
	usage.Output = s.usage.OutputTokens
	e.add("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": claudeStop(s), "stop_sequence": nil, "stop_details": claudeDetails(s)}, "usage": usage,
	})
	e.add("message_stop", nil)
	return e.frames
}

// add adds an event with its type in both places.
func (e *claudeEvents) add(kind string, fields map[string]any) {
	event := map[string]any{"type": kind}
	for name, value := range fields {
		event[name] = value
	}
	e.frames = append(e.frames, "event: "+kind+"\ndata: "+encode(event)+"\n\n")
}

// block adds a content block. A ping follows the start of the first.
func (e *claudeEvents) block(begins any, deltas ...map[string]string) {
	e.add("content_block_start", map[string]any{"index": e.blocks, "content_block": begins})
	if e.blocks == 0 {
		e.add("ping", nil)
	}
	for _, d := range deltas {
		e.add("content_block_delta", map[string]any{"index": e.blocks, "delta": d})
	}
	e.add("content_block_stop", map[string]any{"index": e.blocks})
	e.blocks++
}

func deltas(kind, field string, parts ...string) []map[string]string {
	var out []map[string]string
	for _, part := range parts {
		out = append(out, map[string]string{"type": kind, field: part})
	}
	return out
}
