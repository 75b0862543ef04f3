package wording

import (
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
)

// ApprovalDetails returns the page of an approval in the Temporal Web UI: the call, since when
// it waits, and how to answer, on that page or from a shell.
func ApprovalDetails(v contract.ApprovalView, agent, server string, c Console) string {
	p := v.Pending
	var b strings.Builder
	if v.Result != nil {
		fmt.Fprintf(&b, "### %s\n\n", decided(*v.Result))
	} else {
		fmt.Fprintf(&b, "### Waiting for %s since %s\n\n", wanted(p), stamp(p.CreatedAt))
	}
	fmt.Fprintf(&b, "%s\n\nTool `%s`", quoted(Visible(p.Description)), plain(p.ToolName))
	if server != "" {
		fmt.Fprintf(&b, " on server `%s`", server)
	}
	if p.Binding != nil {
		fmt.Fprintf(&b, " at `%s`", plain(p.Binding.Address))
	}
	fmt.Fprintf(&b, ", asked for by agent `%s` in conversation `%s`%s.\n\n", agent, p.ConversationID, forWhom(p.Requester))
	fmt.Fprintf(&b, "Arguments (SHA-256 `%s`)%s:\n\n```json\n%s\n```\n", p.Digest, blobHint(p.ToolArgs, p.UUID), indentedJSON(p.ToolArgs))
	if p.Reason == contract.ReasonRemote {
		b.WriteString("\n" + originDetails(p, agent))
	}
	if len(p.Approvers) > 0 {
		fmt.Fprintf(&b, "\nWho may decide: `%s` (`%s`).\n", plain(approvers.Words(p.Approvers, p.Requester)), plain(strings.Join(p.Approvers, ", ")))
	}
	if n := len(v.Reminded); n > 0 && v.Result == nil {
		fmt.Fprintf(&b, "\nReminded at %s.\n", stamp(v.Reminded[n-1]))
	}
	if last := v.Judgements.Last(); last.Policy != "" && v.Result == nil {
		fmt.Fprintf(&b, "\n%s\n", plain(Judged(last)))
	}
	if v.Problem != "" {
		fmt.Fprintf(&b, "\n**The last signal was not taken as a decision:** %s\n", v.Problem)
	}
	if v.Result == nil {
		fmt.Fprintf(&b, "\n%s\n%s", onThisPage(p), commands(p, c))
	}
	return b.String()
}

// forWhom names the owner of the conversation, if that is proven.
func forWhom(who contract.Name) string {
	if who.Subject == "" {
		return ""
	}
	return fmt.Sprintf(" for `%s` of `%s`", plain(who.Subject), plain(who.Issuer))
}

// originDetails describes the call for which another agent asks, if it reports one.
func originDetails(p contract.PendingApproval, agent string) string {
	text := fmt.Sprintf("Came through: %s.\n", plain(proxyChain(agent, p.RemoteAgentName, p.Origin)))
	if o := p.Origin; o != nil && o.Tool != "" {
		text += fmt.Sprintf("\nThe call there: tool `%s`, arguments (SHA-256 `%s`)%s:\n\n```json\n%s\n```\n",
			plain(o.Tool), plain(o.Digest), blobHint(o.Arguments, p.UUID), indentedJSON(o.Arguments))
	}
	return text
}

// blobHint describes where the complete arguments are if only their beginning is shown.
func blobHint(j contract.JSON, uuid string) string {
	if j.Blob == nil {
		return ""
	}
	return ", only their beginning; all of them: GET /approvals/" + uuid
}

// plain returns a name from outside, in one line and without markup that would end ours.
func plain(name string) string {
	return Visible(strings.NewReplacer("`", "'", "\n", " ", "\r", " ").Replace(name))
}

// quoted sets a description apart: its values come from the model, and must not look like a
// heading or a command of ours.
func quoted(description string) string {
	return "> " + strings.ReplaceAll(description, "\n", "\n> ")
}

func decided(r contract.ApprovalResult) string {
	s := fmt.Sprintf("%s at %s", capital(string(r.Decision)), stamp(r.DecidedAt))
	if r.By != "" {
		s += " by " + r.ShownBy()
	}
	if r.Via != "" {
		s += " through " + r.Via
	}
	if len(r.Chain) > 0 {
		s += " (" + plain(contract.ChainText(r.Chain)) + ")"
	}
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	return s
}

func wanted(p contract.PendingApproval) string {
	switch {
	case p.Paused():
		return "a resume"
	case p.NeedsLogin():
		return "a login"
	case p.Answered():
		return "an answer"
	}
	return "a decision"
}

// onThisPage describes the input for the form of the Web UI.
func onThisPage(p contract.PendingApproval) string {
	const format = "On this page: *More Actions* → *Send a Signal*, signal name `" + contract.SignalDecide + "`, input `%s`, %s\n"
	if p.Paused() || p.NeedsLogin() {
		return fmt.Sprintf(format, `{"approved":false,"by":"YOUR NAME"}`, "to go on without the call. From a shell:")
	}
	if p.Answered() {
		return fmt.Sprintf(format, `{"content":{…},"by":"YOUR NAME"}`, "with the answer in place of `{…}`. From a shell:")
	}
	return fmt.Sprintf(format, `{"approved":true,"by":"YOUR NAME"}`, "with `false` to reject. From a shell:")
}

func commands(p contract.PendingApproval, c Console) string {
	if p.Answered() {
		return "Answer (" + accepted(p) + "), with the answer in place of `{…}`:\n\n" +
			signalCommand(c, p.UUID, `{"content":{…},`+byShell+`}`) +
			"\nDecline:\n\n" + signalCommand(c, p.UUID, `{"approved":false,`+byShell+`}`)
	}
	reject := "\nReject; a `\"reason\"` may be added:\n\n" + signalCommand(c, p.UUID, `{"approved":false,`+byShell+`}`)
	if p.Paused() || p.NeedsLogin() {
		return reject
	}
	ran := ""
	if p.TakesContent() {
		ran = "\nIt did happen:\n\n" + signalCommand(c, p.UUID, `{"content":{"outcome":"ran","result":"…"},`+byShell+`}`)
	}
	return "Approve:\n\n" + signalCommand(c, p.UUID, `{"approved":true,`+byShell+`}`) + ran + reject
}

// ConversationDetails returns the page of a conversation in the Temporal Web UI.
func ConversationDetails(v contract.ConversationView, problem string, c Console) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%d messages, session `%s`", status(v), v.Transcript.Len(), v.SessionID)
	if v.Queued > 0 {
		fmt.Fprintf(&b, ", %d messages queued", v.Queued)
	}
	b.WriteString(".\n")
	if len(v.Chain) > 0 {
		fmt.Fprintf(&b, "\nCame through %s.\n", plain(contract.ChainText(v.Chain)))
	}
	for _, p := range v.Pending {
		b.WriteString("\n---\n\n" + waiting(p, c))
	}
	if problem != "" {
		fmt.Fprintf(&b, "\n**Trouble:** %s\n", problem)
	}
	return b.String()
}

func status(v contract.ConversationView) string {
	switch {
	case v.Status == contract.StatusWaitingApproval:
		return "Waiting for an approval"
	case v.Status == contract.StatusCompleted:
		return "Completed"
	case v.Running:
		return "Answering"
	}
	return "Ready for a message"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }
