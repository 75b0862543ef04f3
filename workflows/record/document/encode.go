package document

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Indentation of the encoded document, and of the messages in it.
const (
	indent        = "  "
	messageIndent = indent + indent
)

// noMessages is the empty list of messages in an encoded document. It occurs only once: line
// breaks in strings are escaped, and keys of inner objects have a larger indentation.
var noMessages = []byte("\n" + indent + `"messages": []`)

// Encode returns the document as indented JSON with a line break at its end, in pieces that must
// not be changed: those of stored messages are shared. It fails if anything cannot be read.
func Encode(ctx context.Context, store transcript.Store, v contract.ConversationView) ([][]byte, error) {
	d := emptyDocument(v)
	if err := d.addPending(ctx, store, v); err != nil {
		return nil, err
	}
	outer, err := json.MarshalIndent(d, "", indent)
	if err != nil {
		return nil, fmt.Errorf("encode conversation %s: %w", v.ID, err)
	}
	parts, err := encodedMessages(ctx, store).Values(ctx, store, v.Transcript)
	if err != nil {
		return nil, fmt.Errorf("encode conversation %s: %w", v.ID, err)
	}
	at := bytes.Index(outer, noMessages) + len(noMessages) - len("]")
	out := [][]byte{outer[:at]}
	separator := []byte("\n" + messageIndent)
	for _, part := range parts {
		if len(part) > 0 {
			out = append(out, separator, part)
			separator = []byte(",\n" + messageIndent)
		}
	}
	if len(out) > 1 {
		out = append(out, []byte("\n"+indent))
	}
	return append(out, outer[at:], []byte("\n")), nil
}

// EncodeWhole is Encode for a document that has been rendered whole.
func EncodeWhole(d Conversation) ([]byte, error) {
	data, err := json.MarshalIndent(d, "", indent)
	if err != nil {
		return nil, fmt.Errorf("encode conversation %s: %w", d.ID, err)
	}
	return append(data, '\n'), nil
}

// encodedMessages computes the encoded messages of a transcript's parts.
func encodedMessages(ctx context.Context, store transcript.Store) transcript.Projection[[]byte] {
	return transcript.Projection[[]byte]{Kind: "encoded", Of: func(messages []contract.Message) ([]byte, int, error) {
		var out []byte
		for i, m := range messages {
			r, err := message(ctx, store, m)
			if err != nil {
				return nil, 0, fmt.Errorf("render message %s: %w", m.ID, err)
			}
			data, err := json.MarshalIndent(r, messageIndent, indent)
			if err != nil {
				return nil, 0, fmt.Errorf("encode message %s: %w", m.ID, err)
			}
			if i > 0 {
				out = append(out, ",\n"+messageIndent...)
			}
			out = append(out, data...)
		}
		return out, len(out), nil
	}}
}
