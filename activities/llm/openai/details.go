package openai

import (
	"encoding/json"
	"strings"
)

// maxDetails bounds what is kept of a model's thoughts for it to see again. Of
// longer ones nothing is.
const maxDetails = 1 << 20

// chatDetails are the reasoning_details of OpenRouter's replies: thoughts with
// signatures, which models want back as they were. Streams bring them in pieces.
type chatDetails struct {
	list []*chatDetail
	size int
}

type chatDetail struct {
	fields map[string]json.RawMessage
	// said is what the pieces say, by the fields that say something.
	said map[string]*strings.Builder
}

// add takes in the details of a message, or of a piece of one.
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
		if n := len(d.list); whole || n == 0 || !d.list[n-1].goesOn(piece) {
			d.list = append(d.list, &chatDetail{map[string]json.RawMessage{}, map[string]*strings.Builder{}})
		}
		d.list[len(d.list)-1].add(piece)
	}
}

// goesOn reports whether a piece continues the detail.
func (d *chatDetail) goesOn(piece map[string]json.RawMessage) bool {
	kind := string(piece["type"])
	return (kind == `"reasoning.text"` || kind == `"reasoning.summary"`) &&
		kind == string(d.fields["type"]) && string(piece["index"]) == string(d.fields["index"])
}

func (d *chatDetail) add(piece map[string]json.RawMessage) {
	for name, value := range piece {
		var text string
		if (name == "text" || name == "summary") && json.Unmarshal(value, &text) == nil && isSet(value) {
			if d.said[name] == nil {
				d.said[name] = &strings.Builder{}
			}
			d.said[name].WriteString(text)
			continue
		}
		if _, known := d.fields[name]; !known || isSet(value) {
			d.fields[name] = value
		}
	}
}

// json is all details as the provider wants them back; nil if there are none.
func (d *chatDetails) json() json.RawMessage {
	var out []map[string]json.RawMessage
	for _, detail := range d.list {
		for name, said := range detail.said {
			detail.fields[name], _ = json.Marshal(said.String()) // a string always can
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
