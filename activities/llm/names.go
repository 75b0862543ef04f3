package llm

import (
	"strconv"

	"agent-stop-and-go/workflows/contract"
)

const maxName = 64

// Names translates tool names to what the API allows (letters, digits,
// underscore and dash, at most 64) and back.
type Names struct{ wire, own map[string]string }

// NewNames returns the names of the tools on offer.
func NewNames(tools []contract.Tool) Names {
	t := Names{wire: map[string]string{}, own: map[string]string{}}
	for _, tool := range tools {
		t.add(tool.Name)
	}
	return t
}

func (t Names) add(name string) {
	wire := allowedName(name)
	for n := 2; t.own[wire] != "" && t.own[wire] != name; n++ {
		suffix := "_" + strconv.Itoa(n)
		wire = allowedName(name)
		wire = wire[:min(len(wire), maxName-len(suffix))] + suffix
	}
	t.wire[name], t.own[wire] = wire, name
}

// Wire also translates names of tools that are no longer on offer.
func (t Names) Wire(name string) string {
	if wire, ok := t.wire[name]; ok {
		return wire
	}
	return allowedName(name)
}

// Own leaves names alone that were never on offer.
func (t Names) Own(wire string) string {
	if name, ok := t.own[wire]; ok {
		return name
	}
	return wire
}

func allowedName(name string) string {
	b := []byte(name)
	for i, c := range b {
		if !isWordByte(c) && c != '-' {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return "_"
	}
	return string(b[:min(len(b), maxName)])
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// NewLetterNames returns names for APIs that want them to begin with a letter or an
// underscore. It also knows the tools that were called and are no longer on offer.
func NewLetterNames(tools []contract.Tool, turns []Turn) Names {
	t := NewNames(tools)
	for _, tool := range tools {
		wire := t.wire[tool.Name]
		name := beginning(wire)
		for name != wire && t.own[name] != "" {
			name = beginning("_" + name)
		}
		delete(t.own, wire)
		t.wire[tool.Name], t.own[name] = name, tool.Name
	}
	for _, turn := range turns {
		for _, c := range turn.Calls {
			if _, ok := t.wire[c.Name]; !ok {
				t.wire[c.Name] = beginning(allowedName(c.Name))
			}
		}
	}
	return t
}

// beginning puts an underscore before a name that begins with something else, or
// has one too many.
func beginning(name string) string {
	if name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}
