package convert

import (
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/commands/script"

	"mvdan.cc/sh/v3/syntax"
)

// private says what becomes of files that a script without cwd writes, if it writes some by a relative name
// or by that of a value.
func (f *old) private() string {
	source := f.get("shell-script")
	if source == nil || f.get("cwd") != nil {
		return ""
	}
	file, err := script.Parse(source.Value, false)
	if err != nil {
		return ""
	}
	var names []string
	syntax.Walk(file, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		if !ok || r.Word == nil || !slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll}, r.Op) {
			return true
		}
		name := strings.Trim(source.Value[r.Word.Pos().Offset():r.Word.End().Offset()], `"'`)
		if !strings.HasPrefix(name, "/") && (!strings.HasPrefix(name, "$") || strings.HasPrefix(name, "${ARG_")) && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return true
	})
	if len(names) == 0 {
		return ""
	}
	return "# It runs in a private folder, which is removed at its end with what it writes there (" + strings.Join(names, ", ") +
		"):\n# name another by cwd and write.\n"
}
