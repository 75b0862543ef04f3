package sections

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// URI is the resource in which a server has the prompt as a [Reading].
const URI = "prompt://sections"

// Reading is a prompt as it is read from a server: the result of read_prompt.
type Reading struct {
	Version  int    `json:"version"`
	Base     string `json:"base" jsonschema:"base of the whole prompt, for revert_prompt"`
	Sections []Part `json:"sections"`
	Text     string `json:"text"`
}

// Part is a section of a Reading.
type Part struct {
	Number      int    `json:"number"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Depth       int    `json:"depth" jsonschema:"0 for sections of the prompt itself"`
	Base        string `json:"base,omitempty" jsonschema:"for update_prompt; none if the section has sections"`
}

// NewReading returns the whole prompt, whose version has a number.
func NewReading(p Prompt, version int) Reading {
	text := p.Assemble()
	out := Reading{Version: version, Base: Digest(text), Text: text, Sections: []Part{}}
	for _, e := range p.Entries() {
		part := Part{Number: e.Number, Name: e.Name, Description: e.Description, Depth: e.Depth}
		if !e.Container {
			part.Base = e.Base()
		}
		out.Sections = append(out.Sections, part)
	}
	return out
}

// ParseReading reads the JSON of a Reading. A prompt that is empty, or is not what its base stands for, is an error.
func ParseReading(data []byte) (r Reading, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s is not a prompt: %w", URI, err)
	}
	switch {
	case body(r.Text) == "":
		return r, errors.New("the prompt is empty")
	case len(r.Text) > MaxBytes:
		return r, fmt.Errorf("the prompt has more than %d bytes", MaxBytes)
	case len(r.Sections) > MaxSections:
		return r, fmt.Errorf("the prompt has more than %d sections", MaxSections)
	case r.Base != Digest(r.Text):
		return r, fmt.Errorf("the text is not what base %.80q stands for", r.Base)
	}
	return r, nil
}

// Digest identifies a text: 12 hex digits of its SHA-256.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// Base identifies a section and its text: its number may be that of another section with the same text later.
func (e Entry) Base() string { return Digest(e.Name + "\x00" + e.File + "\x00" + e.Only()) }
