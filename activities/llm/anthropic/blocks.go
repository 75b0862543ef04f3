package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// block is a piece of a reply's content: a text, thoughts, a call, or something
// that this package does not know.
type block struct {
	Type, ID, Name, Text, Thinking string
	Input                          json.RawMessage

	raw  json.RawMessage // from content_block_start
	call int
	// added has the texts of the deltas, by field.
	added map[string]*strings.Builder
}

// begin starts a block. Its first event may contain all of it.
func (a *answer) begin(index int64, raw string) error {
	b := &block{raw: json.RawMessage(raw), added: map[string]*strings.Builder{}}
	if json.Unmarshal(b.raw, b) != nil {
		return a.Garbage("a block that is none")
	}
	a.blocks = append(a.blocks, b)
	a.open[index] = b
	if b.Type == "tool_use" {
		b.call = a.AddCall(b.ID, b.Name)
	}
	if err := a.Keep(len(raw) - len(b.Text) - len(b.Thinking)); err != nil {
		return err
	}
	if err := a.addToField(b, "text", b.Text); err != nil {
		return err
	}
	return a.addToField(b, "thinking", b.Thinking)
}

// addToField adds text to a field of a block, and to the reply.
func (a *answer) addToField(b *block, field, text string) error {
	if text == "" {
		return nil
	}
	if b.added[field] == nil {
		b.added[field] = &strings.Builder{}
	}
	b.added[field].WriteString(text)
	switch b.Type + " " + field {
	case "text text":
		return a.AddText(text)
	case "tool_use input":
		return a.AddArguments(b.call, text)
	case "thinking thinking":
		if err := a.AddReasoning(text); err != nil {
			return err
		}
	}
	return a.Keep(len(text))
}

// end finishes a block. A call's arguments may all have come with its first event.
func (a *answer) end(index int64) error {
	b := a.open[index]
	delete(a.open, index)
	if b == nil || b.Type != "tool_use" || b.added["input"] != nil || len(b.Input) == 0 || string(b.Input) == "{}" {
		return nil
	}
	return a.AddArguments(b.call, string(b.Input))
}

// close finishes all blocks, in order. The native form of a reply with thoughts is kept: the
// API wants thoughts back unchanged and in their place
// (platform.claude.com/docs/en/build-with-claude/extended-thinking).
func (a *answer) close() error {
	for _, index := range slices.Sorted(maps.Keys(a.open)) {
		if err := a.end(index); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(a.blocks, func(b *block) bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }) {
		return nil
	}
	content := []json.RawMessage{}
	for _, b := range a.blocks {
		// The API sends blocks of empty text, but does not accept them.
		if raw := b.whole(); raw != nil && (b.Type != "text" || strings.TrimSpace(b.all("text")) != "") {
			content = append(content, raw)
		}
	}
	if raw, err := json.Marshal(content); err == nil {
		a.Native = &llm.Native{Provider: a.Provider, Model: a.Model, Content: raw}
	}
	return nil
}

func (b *block) all(field string) string {
	if s := b.added[field]; s != nil {
		return s.String()
	}
	return ""
}

// whole returns the block with all deltas added.
func (b *block) whole() json.RawMessage {
	var fields map[string]json.RawMessage
	if len(b.added) == 0 || json.Unmarshal(b.raw, &fields) != nil {
		return b.raw
	}
	for field := range b.added {
		if field == "input" {
			fields[field] = input(b.all(field))
			continue
		}
		text, err := json.Marshal(b.all(field))
		if err != nil {
			return b.raw
		}
		fields[field] = text
	}
	return mustRaw(fields)
}

// input returns the arguments of a call; {} if they are not a JSON object.
func input(said string) json.RawMessage {
	if raw := []byte(strings.TrimSpace(said)); llm.IsObject(raw) {
		return raw
	}
	return json.RawMessage("{}")
}
