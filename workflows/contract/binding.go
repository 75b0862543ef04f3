package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Binding is the server and the tool of an approved call. Headers, variables and secrets are
// not part of it, so that new keys do not ask again.
type Binding struct {
	// Address is the server's URL or command line, without secrets.
	Address string `json:"address"`
	// SHA256 is the hash of the tool's Definition, which is in the blob store.
	SHA256     string `json:"definition_sha256,omitempty"`
	Definition JSON   `json:"definition,omitzero"`
}

// Same reports whether a call goes to the same server and tool.
func (b Binding) Same(other Binding) bool {
	return b.Address == other.Address && b.SHA256 == other.SHA256
}

// TargetChange is the detail of a failure with KindChanged: the current target of the call.
type TargetChange struct {
	Binding Binding `json:"binding"`
	// Difference compares the approved target with the current one. If it is cut, Whole has all
	// of it.
	Difference string `json:"difference"`
	Whole      Text   `json:"whole,omitzero"`
}

// Definition is a tool server's declaration of a tool. A grant is bound to it.
type Definition struct {
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Difference describes to people how an approved call differs from the current one. The
// definition of a tool that is not listed is nil.
func Difference(was, now Binding, wasDefined, nowDefined *Definition) string {
	var parts []string
	add := func(what, was, now string) {
		if was != now {
			parts = append(parts, fmt.Sprintf("%s\n- approved:%s\n- now:%s", what, was, now))
		}
	}
	add("Address of the server", quotedLine(was.Address), quotedLine(now.Address))
	const absent = "the tool is not listed"
	if wasDefined == nil || nowDefined == nil {
		add("Tool", listed(wasDefined, was.SHA256, absent), listed(nowDefined, now.SHA256, absent))
		return strings.Join(parts, "\n\n")
	}
	add("Description of the tool", quotedLine(wasDefined.Description), quotedLine(nowDefined.Description))
	a, b := differing(lines(wasDefined.InputSchema), lines(nowDefined.InputSchema))
	add("Parameters of the tool, where they differ", setApart(a), setApart(b))
	return strings.Join(parts, "\n\n")
}

func listed(d *Definition, sum, absent string) string {
	if d == nil && sum == "" {
		return " " + absent
	}
	return " listed, with the digest " + sum
}

func quotedLine(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string can be encoded
		return fmt.Sprintf(" %q", s)
	}
	return " " + strings.TrimSpace(buf.String())
}

func lines(raw json.RawMessage) []string {
	var buf bytes.Buffer
	if json.Indent(&buf, raw, "", "  ") != nil {
		return []string{strings.TrimSpace(quotedLine(string(raw)))}
	}
	return strings.Split(buf.String(), "\n")
}

// differing removes common lines at the beginning and the end of two lists.
func differing(a, b []string) (x, y []string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return slices.Clone(a), slices.Clone(b)
}

func setApart(lines []string) string {
	if len(lines) == 0 {
		return " nothing"
	}
	return "\n\n  > " + strings.Join(lines, "\n  > ") + "\n"
}
