package llm

import (
	"strconv"

	"agent-stop-and-go/workflows/contract"
)

const maxName = 64

// nameTable translates tool names to what the API allows (letters, digits,
// underscore and dash, at most 64) and back.
type nameTable struct{ wire, own map[string]string }

func newNameTable(tools []contract.Tool) nameTable {
	t := nameTable{wire: map[string]string{}, own: map[string]string{}}
	for _, tool := range tools {
		t.add(tool.Name)
	}
	return t
}

func (t nameTable) add(name string) {
	wire := allowedName(name)
	for n := 2; t.own[wire] != "" && t.own[wire] != name; n++ {
		suffix := "_" + strconv.Itoa(n)
		wire = allowedName(name)
		wire = wire[:min(len(wire), maxName-len(suffix))] + suffix
	}
	t.wire[name], t.own[wire] = wire, name
}

// toWire also translates names of tools that are no longer on offer.
func (t nameTable) toWire(name string) string {
	if wire, ok := t.wire[name]; ok {
		return wire
	}
	return allowedName(name)
}

// toOwn leaves names alone that were never on offer.
func (t nameTable) toOwn(wire string) string {
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
