package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"agent-stop-and-go/gateway/client"
)

// reasons says why an approval waits.
var reasons = map[client.Reason]string{
	client.ReasonDestructive:    "the call may change or destroy something",
	client.ReasonUnknownOutcome: "the call was sent and its answer is lost: nobody knows whether it ran",
	client.ReasonNotReached:     "the approved call did not reach its server",
	client.ReasonChanged:        "the approved call would go elsewhere, or to another tool, than was approved",
	client.ReasonRemote:         "another agent asks",
	client.ReasonQuestion:       "a tool server asks a question",
	client.ReasonLimit:          "a limit of the agent is reached; a yes grants the same amount again",
	client.ReasonClientTool:     "the front end has to make this call",
}

// printApproval prints all that is decided on, with every character visible.
func printApproval(w io.Writer, a client.Approval) {
	fmt.Fprintf(w, "Approval %s\n", exact(a.UUID))
	field(w, "tool", a.ToolName)
	field(w, "why", reasons[a.Reason])
	field(w, "node", a.Node)
	field(w, "agent", a.RemoteAgentName)
	if a.Binding != nil {
		field(w, "goes to", a.Binding.Address)
	}
	if a.Granted != nil {
		field(w, "approved for", a.Granted.Address)
	}
	fmt.Fprintf(w, "  waits since   %s\n", a.CreatedAt.Local().Format("2006-01-02 15:04:05"))
	block(w, "arguments", readable(a.ToolArgs))
	if o := a.Origin; o != nil {
		field(w, "asked by", strings.Join(o.Chain, " → "))
		field(w, "its tool", o.Tool)
		block(w, "its arguments", readable(o.Arguments))
		block(w, "it says", exact(o.Description))
	}
	block(w, "description", exact(a.Description))
	block(w, "explanation", exact(a.Explanation))
	block(w, "accepts", exact(a.Accepts))
	if len(a.Schema) > 0 {
		block(w, "form", readable(a.Schema))
	}
}

func field(w io.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "  %-13s %s\n", name, strings.ReplaceAll(exact(value), "\n", `\n`))
	}
}

func block(w io.Writer, name, text string) {
	if text != "" {
		fmt.Fprintf(w, "  %s\n%s\n", name, indent(text, "    "))
	}
}

// readable returns JSON with line breaks, every character visible and nothing left out.
func readable(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return exact(string(raw))
	}
	return exact(b.String())
}

// answers returns the commands that answer an approval.
func answers(a client.Approval) []string {
	approve, reject := "agent approvals approve "+a.UUID, "agent approvals reject "+a.UUID+" --reason …"
	switch {
	case a.IsDoubtful():
		return []string{
			"agent approvals answer " + a.UUID + " ran      # it did run", approve + "     # run it again", reject + "   # go on without it",
		}
	case a.NeedsContent():
		return []string{"agent approvals answer " + a.UUID + " '{…}'", reject}
	}
	return []string{approve, reject}
}

// printAnswers prints how to answer an approval from a shell.
func (s *session) printAnswers(w io.Writer, a client.Approval) {
	fmt.Fprintf(w, "Answer it with one of:\n")
	for _, command := range answers(a) {
		fmt.Fprintf(w, "  %s\n", command+s.flags.again())
	}
}

// again returns the flags that a later command needs to reach the same agent.
func (f *Flags) again() string {
	if f.url == "" {
		return ""
	}
	return " --url " + f.url
}
