package gemini

import (
	"encoding/json"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// replyParts are the parts of a reply as the API sent them, to go back as they
// are: the signatures among them belong to the parts that they came with, in their
// order (ai.google.dev/gemini-api/docs/thought-signatures). Only unsigned texts,
// which a stream cuts anywhere, are joined.
type replyParts struct {
	parts []json.RawMessage
	// text is what was said last, without a signature, and thought whether it was a
	// thought. It is not among the parts yet.
	text    strings.Builder
	thought bool

	calls  int
	signed bool
	size   int // bytes of the parts that are kept as they came; texts are counted by llm.Draft
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

// plainText reports whether a part has nothing but a text.
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

// flush makes a part of the text. The API takes no empty ones.
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

// content is what goes back; nil where nothing is signed, or the calls are not as
// many as the reply has.
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
