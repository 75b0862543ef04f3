package wording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Describe describes the effect of a call as describeCall does, with what its server says it would change.
func Describe(c contract.Call, node string) string {
	if c.Preview == "" {
		return describeCall(c, node)
	}
	return describeCall(c, node) + "\n\nWhat it changes, as " + quotedName(c.Server) + " says:\n\n" + indented(Visible(c.Preview))
}

// indented sets a text apart whose lines must stay as they are, as code in markdown.
func indented(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

// describeCall describes the effect of a call in markdown, for the person who decides. node is the
// name of a node in a tree, empty for an agent that is a single node. Every argument appears.
// Only a server that is ours by configuration has sentences of its own.
func describeCall(c contract.Call, node string) string {
	args := arguments(c.Arguments)
	switch ours := c.Wording == contract.WordingResources && c.Arguments.Blob == nil; {
	case c.Peer != nil:
		return describeDelegation(c, node, args)
	case ours && c.Name == "resources_add":
		return describeAdd(c, args)
	case ours && c.Name == "resources_remove":
		return describeRemove(c, args)
	}
	return heading(quotedName(strings.ToUpper(c.Name))) + allArguments(c)
}

func heading(words string) string { return "**" + words + "**\n\n" }

func allArguments(c contract.Call) string { return "Args: " + indentedJSON(c.Arguments) }

func describeAdd(c contract.Call, args map[string]any) string {
	if hasOtherArguments(args, "name", "value") {
		return heading("ADD Resource") + allArguments(c)
	}
	return heading("ADD Resource") + fmt.Sprintf("Name: %s\nValue: %s", value(args["name"]), value(args["value"]))
}

// describeRemove shows the id and the pattern if both are given: the tool removes resources
// that match either.
func describeRemove(c contract.Call, args map[string]any) string {
	id, pattern := args["id"], args["pattern"]
	const warning = "\n\n⚠️ This will remove all resources matching the pattern."
	switch many, more := given(pattern), hasOtherArguments(args, "id", "pattern"); {
	case many && more:
		return heading("REMOVE Resources") + allArguments(c) + warning
	case more || !many && !given(id):
		return heading("REMOVE Resource") + allArguments(c)
	case !many:
		return heading("REMOVE Resource") + "ID: " + value(id)
	case given(id):
		return heading("REMOVE Resources") + "ID: " + value(id) + "\nPattern: " + value(pattern) + warning
	}
	return heading("REMOVE Resources") + "Pattern: " + value(pattern) + warning
}

func given(v any) bool { return v != nil && v != "" }

// hasOtherArguments reports whether there are arguments besides those with the given names.
func hasOtherArguments(args map[string]any, names ...string) bool {
	known := 0
	for _, name := range names {
		if _, is := args[name]; is {
			known++
		}
	}
	return len(args) > known
}

func arguments(j contract.JSON) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(j.Raw))
	dec.UseNumber()
	var args map[string]any
	if dec.Decode(&args) != nil {
		return nil
	}
	return args
}

// value formats an argument for a sentence.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return noValue
	case string:
		return quotedName(v)
	case json.Number:
		return v.String()
	}
	return Visible(plainJSON(v))
}

// indentedJSON formats JSON for people; only its beginning if it is not in history.
func indentedJSON(j contract.JSON) string {
	var buf bytes.Buffer
	switch {
	case j.Blob != nil:
		return Visible(contract.Text{Blob: j.Blob}.Short())
	case len(j.Raw) == 0:
		return "{}"
	case json.Indent(&buf, j.Raw, "", "  ") != nil:
		return inQuotes(string(j.Raw))
	}
	return Visible(buf.String())
}
