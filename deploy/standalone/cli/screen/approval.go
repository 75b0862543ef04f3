package screen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
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
	client.ReasonPaused:         "destructive calls are paused; it goes on by itself after the resume",
	client.ReasonLogin:          "the call needs a login of who sent the message; it goes on by itself after that",
	client.ReasonClientTool:     "the front end has to make this call",
}

// grounds says why a person is asked before a call that may destroy something.
var grounds = map[string]string{
	string(contract.GroundAnnotation): "the tool server says that calls of this tool may destroy something",
	string(contract.GroundSetting):    "the agent's configuration says that a person is asked before calls of this tool",
	string(contract.GroundNoHint):     "the tool server does not say that this tool is harmless",
}

// Approval returns all that is decided on, with every character visible.
func Approval(a client.Approval) string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "Approval %s\n", Exact(a.UUID))
	field(w, "tool", a.ToolName)
	field(w, "server", a.Server)
	if a.Binding != nil {
		field(w, "goes to", a.Binding.Address)
	}
	if a.Granted != nil {
		field(w, "approved for", a.Granted.Address)
	}
	people(w, a)
	fmt.Fprintf(w, "  waits since   %s\n", a.CreatedAt.Local().Format(toTheSecond))
	if a.ExpiresAt != nil {
		fmt.Fprintf(w, "  expires       %s, which counts as a no\n", a.ExpiresAt.Local().Format(toTheSecond))
	}
	if ReplacesFile(a) {
		field(w, "note", "it seems to write a whole file: what the file holds now is replaced")
	}
	block(w, "arguments", JSON(a.ToolArgs))
	if len(a.Edit) > 0 {
		field(w, "may change", strings.Join(a.Edit, ", ")+" (--set NAME=VALUE)")
	}
	if o := a.Always; o != nil {
		field(w, "may stand", fmt.Sprintf("for up to %d later calls within %s, too: --always %s shows for which", o.Uses, o.AtMost, strings.Join(o.Scopes, "|")))
	}
	if o := a.Origin; o != nil {
		field(w, "its tool", o.Tool)
		block(w, "its arguments", JSON(o.Arguments))
		block(w, "it says", Exact(o.Description))
	}
	block(w, "description", Exact(a.Description))
	block(w, "explanation", Exact(a.Explanation))
	block(w, "accepts", Exact(a.Accepts))
	block(w, "form", JSON(a.Schema))
	return w.String()
}

const toTheSecond = "2006-01-02 15:04:05"

// people writes who asks, for whom, why, and who may decide.
func people(w *strings.Builder, a client.Approval) {
	field(w, "asked by", strings.Join(chainOf(a), " → "))
	field(w, "node", a.Node)
	var owner contract.Name
	if a.Requester != nil {
		owner = contract.Name{Subject: a.Requester.Subject, Issuer: a.Requester.Issuer}
		field(w, "for", owner.Subject+" ("+owner.Issuer+")")
	}
	field(w, "why", cmp.Or(grounds[a.Because], reasons[a.Reason]))
	if a.Login != nil {
		field(w, "log in at", a.Login.URL)
	}
	field(w, "may decide", approvers.Words(a.Approvers, owner))
}

// chainOf returns the agents from this one to the one whose call waits. Agents of earlier versions
// do not tell their own name.
func chainOf(a client.Approval) []string {
	switch {
	case len(a.Chain) > 0:
		return a.Chain
	case a.Origin != nil && len(a.Origin.Chain) > 0:
		return a.Origin.Chain
	case a.AgentName != "":
		return []string{a.AgentName}
	}
	return []string{a.RemoteAgentName}
}

var (
	writes   = regexp.MustCompile(`(?i)write|save|create`)
	namesOf  = regexp.MustCompile(`path|file`)
	contents = regexp.MustCompile(`content|text|data`)
)

// ReplacesFile reports whether a call seems to write a whole file, as far as the names of the
// tool and of its arguments say.
func ReplacesFile(a client.Approval) bool {
	tool, raw := a.ToolName, a.ToolArgs
	if a.Origin != nil && a.Origin.Tool != "" {
		tool, raw = a.Origin.Tool, a.Origin.Arguments
	}
	var args map[string]any
	if !writes.MatchString(tool) || json.Unmarshal(raw, &args) != nil {
		return false
	}
	mode, given := args["mode"]
	has := func(what *regexp.Regexp) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(args)), what.MatchString)
	}
	return (!given || mode == "overwrite") && has(namesOf) && has(contents)
}

// Field returns a line with a name and a value.
func Field(name, value string) string {
	w := &strings.Builder{}
	field(w, name, value)
	return w.String()
}

// Changes shows with which changes a call was approved.
func Changes(r client.Revision) string {
	w := &strings.Builder{}
	for _, c := range r.Changes {
		field(w, "changed", c.Name+" from "+cmp.Or(c.Before, "nothing")+" to "+c.After)
	}
	block(w, "approved", JSON(r.Arguments))
	return w.String()
}

func field(w *strings.Builder, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "  %-13s %s\n", name, strings.ReplaceAll(Exact(value), "\n", `\n`))
	}
}

func block(w *strings.Builder, name, text string) {
	if text != "" {
		fmt.Fprintf(w, "  %s\n%s\n", name, Indent(text, "    "))
	}
}

// JSON returns JSON with line breaks, every character visible and nothing left out.
func JSON(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return Exact(string(raw))
	}
	return Exact(b.String())
}

// Answers returns the commands that answer an approval.
func Answers(a client.Approval) []string {
	uuid := Exact(a.UUID)
	approve, reject := "agent approvals approve "+uuid, "agent approvals reject "+uuid+" --reason …"
	switch {
	case a.IsPaused(), a.NeedsLogin():
		return []string{reject}
	case a.IsDoubtful():
		return []string{
			"agent approvals answer " + uuid + " ran      # it did run", approve + "     # run it again", reject + "   # go on without it",
		}
	case a.NeedsContent():
		return []string{"agent approvals answer " + uuid + " '{…}'", reject}
	}
	return []string{approve, reject}
}

// Question returns the question about an approval, with what it accepts.
func Question(a client.Approval) string {
	switch {
	case a.IsDoubtful():
		return "Did it run? [ran = it did / yes = run it again / no = go on without it / later]"
	case a.NeedsContent():
		if len(answer.Fields(a.Schema)) > 0 {
			return "Your answer [Enter asks field by field / a value or a JSON object / decline / later]"
		}
		return "Your answer, a value or a JSON object [decline / later]"
	case a.IsPaused():
		return "It waits for the resume. Go on without it? [no = without it / later]"
	case a.NeedsLogin():
		return "It waits for your login" + at(a) + ". Go on without it? [no = without it / later]"
	case a.Reason == client.ReasonLimit:
		return "Go on? [yes / no / later]"
	}
	return "Run it? [yes / no / later]"
}

// at returns where one logs in for a call.
func at(a client.Approval) string {
	if a.Login == nil || a.Login.URL == "" {
		return ""
	}
	return " at " + Exact(a.Login.URL)
}

// Content returns the answer to a question: a JSON object, or a value.
func Content(text string) client.Answer {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) == nil {
		return client.Answer{Content: json.RawMessage(text)}
	}
	return client.Answer{Answer: text}
}

// Indent puts a text in front of every line.
func Indent(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+by)
}
