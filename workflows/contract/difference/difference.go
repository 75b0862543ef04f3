// Package difference tells people how the target of an approved call has changed.
package difference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Of describes to people how an approved call differs from the current one. The
// definition of a tool that is not listed is nil.
func Of(was, now contract.Binding, wasDefined, nowDefined *Definition) string {
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
