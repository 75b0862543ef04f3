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

// Wire returns a tool's name on the wire, also for a tool that is no longer on offer.
func (t Names) Wire(name string) string {
	if wire, ok := t.wire[name]; ok {
		return wire
	}
	return allowedName(name)
}

// Own returns a tool's own name. A name that was never on offer is returned unchanged.
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

// NewLetterNames returns names for APIs that require a letter or an underscore as the first
// character. It includes tools that were called and are no longer on offer.
func NewLetterNames(tools []contract.Tool, turns []Turn) Names {
	t := NewNames(tools)
	for _, tool := range tools {
		wire := t.wire[tool.Name]
		name := validBeginning(wire)
		for name != wire && t.own[name] != "" {
			name = validBeginning("_" + name)
		}
		delete(t.own, wire)
		t.wire[tool.Name], t.own[name] = name, tool.Name
	}
	for _, turn := range turns {
		for _, c := range turn.Calls {
			if _, ok := t.wire[c.Name]; !ok {
				t.wire[c.Name] = validBeginning(allowedName(c.Name))
			}
		}
	}
	return t
}

// validBeginning puts an underscore before a name that begins with a dash or a digit, and cuts
// the name to maxName bytes.
func validBeginning(name string) string {
	if name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name[:min(len(name), maxName)]
}
