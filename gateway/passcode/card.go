package passcode

import (
	"fmt"
	"strings"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/workflows/contract"
)

// Takes reports whether a yes or a no decides an approval. Others want more: an answer, a login, an
// account of what happened.
func Takes(p contract.PendingApproval) bool {
	return !p.TakesContent() && !p.Paused() && !p.NeedsLogin() && p.Reason != contract.ReasonClientTool
}

// Whole reports whether the description of an approval has all of what a yes approves. Arguments, or
// words of another agent, that are stored outside of the history are only begun there.
func Whole(p contract.PendingApproval) bool {
	return p.Explanation.IsZero() && !Stored(p.ToolArgs) && (p.Origin == nil || !Stored(p.Origin.Arguments))
}

// Stored reports whether a value is stored outside of the history, also if it was loaded from there.
func Stored(j contract.JSON) bool { return j.Blob != nil || len(j.Raw) > contract.InlineLimit }

// Decidable reports whether an approval can be decided by what Card shows: a yes or a no decides it,
// and nothing is left out.
func Decidable(p contract.PendingApproval) bool { return Takes(p) && Whole(p) }

// Card returns the text about an approval for a chat: what waits, why, where to decide it and, with
// a code, how to do so here. What others have written is quoted, so that it cannot be read as words
// of the gateway.
func Card(p contract.PendingApproval, link, code string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n%s\n", history.Mark, name(p), quote(p.Description))
	if why := Why(p); why != "" {
		fmt.Fprintf(&b, "\nWhy: %s\n", why)
	}
	if link != "" {
		fmt.Fprintf(&b, "\nTo read all of it and decide: %s\n", link)
	}
	switch {
	case code != "":
		fmt.Fprintf(&b, "\nTo decide here, send one of these lines as your whole next message, within ten minutes:\n\n    approve %s\n    reject %s\n", code, code)
	case p.Question():
		b.WriteString("\nYour next message is the answer.\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// name returns the name of the tool, in one line that is code.
func name(p contract.PendingApproval) string {
	text := p.ToolName
	if p.Server != "" {
		text += " on " + p.Server
	}
	return "`" + strings.NewReplacer("`", "'", "\n", " ", "\r", " ").Replace(text) + "`"
}

// quote returns a text as a block that shows it as it is.
func quote(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// Why says why a person is asked, "" if that is not known.
func Why(p contract.PendingApproval) string {
	switch {
	case p.Rule != "":
		return "the rule `" + strings.ReplaceAll(p.Rule, "`", "'") + "` asks"
	case p.Reason == contract.ReasonDestructive:
		return "the call changes something"
	case p.Reason != "":
		return strings.ReplaceAll(string(p.Reason), "_", " ")
	}
	return ""
}
