package prompt

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/prompt/sections"
	"agent-stop-and-go/workflows/contract/promptversion"
)

// Version says which prompt it is, for the record of conversations; nil for a text alone.
func (p Prompt) Version() *promptversion.Version {
	if p.version == nil && len(p.Sections) > 0 {
		return versionOf("file", sections.NewReading(p.Tree(), 0))
	}
	return p.version
}

func versionOf(source string, r sections.Reading) *promptversion.Version {
	v := &promptversion.Version{Source: source, Number: r.Version, Digest: r.Base}
	for _, s := range r.Sections {
		switch {
		case s.Base == "":
		case len(v.Sections) == promptversion.MaxSections:
			v.More++
		default:
			v.Sections = append(v.Sections, promptversion.Section{Name: s.Name, Digest: s.Base})
		}
	}
	return v
}

// Take takes what a worker has read of the server. A prompt that is empty is an error.
func (p *Prompt) Take(r promptversion.Reading) error {
	if r.Problem != "" {
		return errors.New(r.Problem)
	}
	reading, err := sections.ParseReading(r.Prompt)
	if err != nil {
		return err
	}
	p.text, p.version = reading.Text, versionOf("server "+p.Server, reading)
	return nil
}

// FallBack takes the text of the file, because the server cannot be read. It returns false if there is none.
func (p *Prompt) FallBack(reason string) bool {
	if p.Text == "" {
		return false
	}
	p.text, p.version = "", &promptversion.Version{Source: "server " + p.Server, Digest: sections.Digest(p.Text), Fallback: reason}
	return true
}

// number is that of the newest version that mcp-prompt keeps in a directory, if the files are as they were
// then, else 0.
func number(dir string, files map[string]string) int {
	names, err := filepath.Glob(filepath.Join(dir, ".versions", strings.Repeat("[0-9]", 8)+".json"))
	if err != nil || len(names) == 0 {
		return 0
	}
	data, err := os.ReadFile(slices.Max(names))
	if err != nil {
		return 0
	}
	var v struct {
		Number int               `json:"version"`
		Files  map[string]string `json:"files"`
	}
	if json.Unmarshal(data, &v) != nil || !maps.Equal(v.Files, files) {
		return 0
	}
	return v.Number
}
