package gemini

import (
	"encoding/json"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// replyParts keeps the parts of a reply as the API sent them, to send them back unchanged:
// a signature belongs to the part that it came with, and their order matters
// (ai.google.dev/gemini-api/docs/thought-signatures). Only unsigned texts,
// which a stream cuts anywhere, are joined.
type replyParts struct {
	parts []json.RawMessage
	// text is the latest unsigned text, which is not in parts yet. thought is set if it is a
	// thought.
	text    strings.Builder
	thought bool

	calls  int
	signed bool
	size   int // bytes of the parts kept unchanged; llm.Draft counts texts
}

func (g *replyParts) add(raw json.RawMessage, p replyPart) error {
	if p.Call != nil {
		g.calls++
	}
	g.signed = g.signed || p.Signature != ""
	if !plainText(raw, p) {
		if g.size += len(raw); g.size > llm.MaxBody {
			return llm.ErrTooLarge
		}
		g.flush()
		g.parts = append(g.parts, raw)
		return nil
	}
	if g.thought != p.Thought {
		g.flush()
	}
	g.thought = p.Thought
	g.text.WriteString(*p.Text)
	return nil
}

// plainText reports whether a part consists of a text only.
func plainText(raw json.RawMessage, p replyPart) bool {
	if p.Text == nil || p.Signature != "" {
		return false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	delete(fields, "text")
	delete(fields, "thought")
	return len(fields) == 0
}

// flush moves the text to parts, unless it is empty: the API refuses empty parts.
func (g *replyParts) flush() {
	if g.text.Len() == 0 {
		return
	}
	part, err := json.Marshal(struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought,omitempty"`
	}{g.text.String(), g.thought})
	if err == nil {
		g.parts = append(g.parts, part)
	}
	g.text.Reset()
}

// content returns the content to send back; nil if no part is signed, or if the number of
// calls differs from the reply's.
func (g *replyParts) content(calls int) json.RawMessage {
	if !g.signed || g.calls != calls {
		return nil
	}
	g.flush()
	content, err := json.Marshal(map[string][]json.RawMessage{"parts": g.parts})
	if err != nil {
		return nil
	}
	return content
}
