package openai

import (
	"encoding/json"
	"strings"
)

// maxDetails bounds the bytes of thoughts that are kept to be sent back to the model. Longer
// thoughts are dropped completely.
const maxDetails = 1 << 20

// chatDetails are the reasoning_details of OpenRouter's replies: thoughts with
// signatures, which models want back unchanged. Streams send them in pieces.
type chatDetails struct {
	list []*chatDetail
	size int
}

type chatDetail struct {
	fields map[string]json.RawMessage
	// texts has the texts of the pieces, by field.
	texts map[string]*strings.Builder
}

// add adds the details of a message, or of a piece of one.
func (d *chatDetails) add(raw json.RawMessage, whole bool) {
	var pieces []map[string]json.RawMessage
	if d.size += len(raw); d.size > maxDetails {
		d.list = nil
		return
	}
	if len(raw) == 0 || json.Unmarshal(raw, &pieces) != nil {
		return
	}
	for _, piece := range pieces {
		if n := len(d.list); whole || n == 0 || !d.list[n-1].continues(piece) {
			d.list = append(d.list, &chatDetail{map[string]json.RawMessage{}, map[string]*strings.Builder{}})
		}
		d.list[len(d.list)-1].add(piece)
	}
}

// continues reports whether a piece continues the detail.
func (d *chatDetail) continues(piece map[string]json.RawMessage) bool {
	kind := string(piece["type"])
	return (kind == `"reasoning.text"` || kind == `"reasoning.summary"`) &&
		kind == string(d.fields["type"]) && string(piece["index"]) == string(d.fields["index"])
}

func (d *chatDetail) add(piece map[string]json.RawMessage) {
	for name, value := range piece {
		var text string
		if (name == "text" || name == "summary") && json.Unmarshal(value, &text) == nil && isSet(value) {
			if d.texts[name] == nil {
				d.texts[name] = &strings.Builder{}
			}
			d.texts[name].WriteString(text)
			continue
		}
		if _, known := d.fields[name]; !known || isSet(value) {
			d.fields[name] = value
		}
	}
}

// json returns all details in the form that the provider wants back; nil if there are none.
func (d *chatDetails) json() json.RawMessage {
	var out []map[string]json.RawMessage
	for _, detail := range d.list {
		for name, said := range detail.texts {
			detail.fields[name], _ = json.Marshal(said.String()) // a string can always be encoded
		}
		out = append(out, detail.fields)
	}
	if out == nil {
		return nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}
