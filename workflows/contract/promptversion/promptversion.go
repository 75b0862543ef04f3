// Package promptversion says which system prompt a conversation has, and which it had before.
package promptversion

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Version is a prompt by its digests. The agent's file has the keys (config/PROMPT.md).
type Version struct {
	// Source is file, directory, or "server NAME"; text for a prompt without sections that replaces one with.
	Source string `json:"source"`
	// Number is the version that mcp-prompt has given the prompt; 0 if it has given none, or the files
	// have changed since.
	Number int `json:"version,omitempty"`
	// Digest identifies the text that the model gets: 12 hex digits of its SHA-256.
	Digest   string    `json:"digest,omitempty"`
	Sections []Section `json:"sections,omitempty"`
	// More is the number of sections beyond MaxSections, which are not listed.
	More int `json:"more_sections,omitempty"`
	// Fallback is why the server could not be read. The prompt is the text of the file then.
	Fallback string `json:"fallback,omitempty"`
}

// String is a line for people.
func (v Version) String() string {
	text := v.Source
	if v.Number > 0 {
		text += fmt.Sprintf(", version %d", v.Number)
	}
	if v.Digest != "" {
		text += ", digest " + v.Digest
	}
	if v.Fallback != "" {
		text += ", the text of the file because it could not be read: " + v.Fallback
	}
	return text
}

// Section is a section without sections, and what identifies its name, file and text.
type Section struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// MaxSections bounds the list, which is in the input of every run.
const MaxSections = 100

// Use is a prompt that a conversation has had from a time on.
type Use struct {
	Version
	At time.Time `json:"at"`
	// By is the operator who had the conversation take it over; "" for the first one.
	By string `json:"by,omitempty"`
}

// maxUses bounds what a conversation keeps: the first one, and the newest ones.
const maxUses = 20

// Add returns the uses with another one. Only the first and the newest one list their sections. A conversation whose prompts have no version has none, and the same
// prompt again is no use.
func Add(uses []Use, v *Version, at time.Time, by string) []Use {
	if v == nil && len(uses) == 0 {
		return nil
	}
	if v == nil {
		v = &Version{Source: "text"}
	}
	if n := len(uses); n > 0 && same(uses[n-1].Version, *v) {
		return uses
	}
	uses = append(slices.Clip(uses), Use{Version: *v, At: at, By: by})
	for i := 1; i < len(uses)-1; i++ { // the list is in every view
		uses[i].Sections = nil
	}
	if len(uses) > maxUses {
		uses = slices.Delete(uses, 1, 2)
	}
	return uses
}

func same(a, b Version) bool {
	return a.Source == b.Source && a.Number == b.Number && a.Digest == b.Digest && a.Fallback == b.Fallback
}

// URI is the resource in which mcp-prompt has the prompt as JSON.
const URI = "prompt://sections"

// Reading is what a worker has read of a tool server: the text of the resource, or the problem.
type Reading struct {
	Prompt  json.RawMessage `json:"prompt,omitempty"`
	Problem string          `json:"problem,omitempty"`
}
