package wording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// DescribeEarlier is the version of Describe that did not quote values and chose its sentences
// by the tool's name, for the replay of older histories.
func DescribeEarlier(c contract.Call, node string) string {
	args := arguments(c.Arguments)
	switch {
	case c.Peer != nil:
		return earlierDelegation(c, node, args)
	case c.Arguments.Blob != nil:
	case c.Name == "resources_add":
		return fmt.Sprintf("**ADD Resource**\n\nName: %s\nValue: %s", earlierValue(args["name"]), earlierValue(args["value"]))
	case c.Name == "resources_remove":
		return earlierRemove(args)
	}
	return fmt.Sprintf("**%s**\n\nArgs: %s", strings.ToUpper(c.Name), earlierIndented(c.Arguments))
}

// DescribeUnknownEarlier is the version of DescribeUnknown without the answer "ran".
func DescribeUnknownEarlier(tool, request, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: %s**\n\n%s\n\nThe call was sent and its answer was lost (%s). It may or may not "+
		"have happened. Approve to call it again, reject to go on without it.", tool, request, why)
}

// DescribeNotReachedEarlier is the version of DescribeNotReached that did not quote names and
// errors.
func DescribeNotReachedEarlier(tool, request, why string) string {
	return fmt.Sprintf("**NOT REACHED: %s**\n\n%s\n\nThe call did not happen: its server could not be reached (%s). "+
		"Approve to try again, reject to go on without it.", tool, request, why)
}

// DescribeUnknownAnswerEarlier is the version of DescribeUnknownAnswer without the answer that
// the agent has received it.
func DescribeUnknownAnswerEarlier(agent, request, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: approval told to A2A agent %s**\n\n%s\n\nThe approval was sent and its answer was lost (%s). "+
		"The agent may or may not have gone on. Approve to tell it again, reject to go on without it.", agent, request, why)
}

func earlierRemove(args map[string]any) string {
	id, pattern := args["id"], args["pattern"]
	switch {
	case !given(pattern) && !given(id):
		return "**REMOVE Resource**\n\nArgs: {}"
	case !given(pattern):
		return "**REMOVE Resource**\n\nID: " + earlierValue(id)
	}
	text := "**REMOVE Resources**\n\n"
	if given(id) {
		text += "ID: " + earlierValue(id) + "\n"
	}
	return text + "Pattern: " + earlierValue(pattern) + "\n\n⚠️ This will remove all resources matching the pattern."
}

func earlierDelegation(c contract.Call, node string, args map[string]any) string {
	message := earlierValue(args["message"])
	if c.Arguments.Blob != nil {
		message = earlierIndented(c.Arguments)
	}
	if node != "" {
		return fmt.Sprintf("[%s] Delegate to A2A agent: %s\n\nMessage: %s", node, c.Peer.Name, message)
	}
	return fmt.Sprintf("**DELEGATE to A2A Agent: %s**\n\nMessage: %s", c.Peer.Name, message)
}

func earlierValue(v any) string {
	switch v := v.(type) {
	case nil:
		return noValue
	case string:
		return v
	case json.Number:
		return v.String()
	}
	data, err := json.Marshal(v)
	if err != nil { // decoded JSON can be encoded
		return fmt.Sprint(v)
	}
	return string(data)
}

func earlierIndented(j contract.JSON) string {
	if j.Blob != nil {
		return contract.Text{Blob: j.Blob}.Short()
	}
	var buf bytes.Buffer
	if len(j.Raw) == 0 || json.Indent(&buf, j.Raw, "", "  ") != nil {
		return "{}"
	}
	return buf.String()
}
