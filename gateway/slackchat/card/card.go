package card

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/slackchat/mrkdwn"
	"agent-stop-and-go/workflows/contract"
)

// The actions of buttons. The value of the first three is the UUID of the approval, that of Stop the
// conversation.
const (
	Approve = "agent_approve"
	Reject  = "agent_reject"
	Later   = "agent_later"
	Stop    = "agent_stop"
	Open    = "agent_open" // a link
)

// maxShown is how many characters of arguments, and of a description, a card shows at most.
const maxShown = 2800

// Message is what Slack shows: blocks, and a text for notifications.
type Message struct {
	Text   string
	Blocks []slack.Block
}

// Whole reports whether a card shows all of what an approval approves. Only that can be approved in
// Slack.
func Whole(p contract.PendingApproval) bool {
	_, problem := arguments(p)
	return passcode.Whole(p) && problem == "" && len(p.Description) <= maxShown
}

// Waiting returns the card of an approval that waits. link leads to its card on the page.
func Waiting(p contract.PendingApproval, link string) Message {
	args, problem := arguments(p)
	whole := Whole(p)
	blocks := head(p)
	blocks = append(blocks, body(p, args, problem)...)
	lines := []string{"Why: " + quoted(why(p), 1000)}
	if p.ExpiresAt != nil {
		lines = append(lines, fmt.Sprintf("Without a decision it expires <!date^%d^{date_short_pretty} at {time}|%s>.", p.ExpiresAt.Unix(), p.ExpiresAt.UTC().Format(time.RFC1123)))
	}
	if hint := instead(p, whole); hint != "" {
		lines = append(lines, hint)
	}
	blocks = append(blocks, contextOf(lines...), buttons(p, link, whole))
	return Message{Text: quoted(title(p), 300), Blocks: blocks}
}

// Ended returns the card of an approval that was decided, or of which no more than the result is
// known.
func Ended(p contract.PendingApproval, r contract.ApprovalResult, link string) Message {
	if p.UUID == "" {
		p.ToolName = r.Tool
	}
	blocks := head(p)
	if args, problem := arguments(p); p.UUID != "" {
		blocks = append(blocks, body(p, args, problem)...)
	}
	text := "*" + quoted(Outcome(r), 1000) + "*"
	if reason := strings.TrimSpace(r.Reason); reason != "" {
		text += "\nReason: " + quoted(reason, 1500)
	}
	blocks = append(blocks, section(text))
	if link != "" {
		blocks = append(blocks, contextOf(fmt.Sprintf("<%s|On the page>", link)))
	}
	return Message{Text: quoted(title(p), 300) + ": " + quoted(Outcome(r), 1000), Blocks: blocks}
}

// Gone returns the card of an approval that is not there any more.
func Gone() Message {
	const text = "This approval is not there any more: its conversation was deleted, or it ended long ago."
	return Message{Text: text, Blocks: []slack.Block{section(text)}}
}

// Refused takes the place of a message that Slack does not take.
func Refused(link string) Message {
	text := "Slack has not taken what belongs here."
	if link != "" {
		text += fmt.Sprintf(" <%s|Read it on the page>.", link)
	}
	return Message{Text: text, Blocks: []slack.Block{section(text)}}
}

func head(p contract.PendingApproval) []slack.Block {
	what := mrkdwn.Code(cut(tool(p), 150))
	if p.Server != "" {
		what += " on " + mrkdwn.Code(cut(p.Server, 150))
	}
	lines := []string{what, "Agent: " + quoted(agentOf(p), 500)}
	if who := p.Requester.Subject; who != "" {
		lines = append(lines, "For: "+quoted(who, 500))
	}
	return []slack.Block{
		slack.NewHeaderBlock(slack.NewTextBlockObject(slack.PlainTextType, cut(title(p), 150), false, false)),
		section(strings.Join(lines, "\n")),
	}
}

// body shows what others have said of the call, and its arguments. Descriptions repeat arguments: there
// is none where these are not shown.
func body(p contract.PendingApproval, args, problem string) []slack.Block {
	if problem != "" {
		return []slack.Block{section(problem)}
	}
	var blocks []slack.Block
	if text := strings.TrimSpace(p.Description); text != "" {
		blocks = append(blocks, preformatted("description", cut(text, maxShown)))
	}
	if args != "" {
		blocks = append(blocks, section("Arguments:"), preformatted("arguments", args))
	}
	return blocks
}

// arguments returns the arguments that will run, or why they are not shown here.
func arguments(p contract.PendingApproval) (text, problem string) {
	raw := p.ToolArgs
	if p.Origin != nil && !p.Origin.Arguments.IsZero() {
		raw = p.Origin.Arguments
	}
	const hidden = "The arguments seem to contain a secret, which is not shown here: read them on the page."
	switch {
	case p.Question():
		return "", ""
	case hasSecret(p.ToolArgs.Raw): // also if another agent makes the call with others
		return "", hidden
	case raw.IsZero():
		return "", ""
	case passcode.Stored(raw):
		return "", "The arguments are too long to be shown here whole: read them on the page."
	case hasSecret(raw.Raw):
		return "", hidden
	}
	var out bytes.Buffer
	if json.Indent(&out, raw.Raw, "", "  ") != nil || out.Len() > maxShown {
		return string(raw.Raw), ""
	}
	return out.String(), ""
}

// instead says how the approval is decided if not by buttons here.
func instead(p contract.PendingApproval, whole bool) string {
	switch {
	case p.Question():
		return "Your next message in this thread is the answer."
	case p.NeedsLogin(), p.Paused(), !passcode.Takes(p):
		return "It is decided on the page."
	case !whole:
		return "What is not shown here whole can be approved on the page only."
	}
	return ""
}

func buttons(p contract.PendingApproval, link string, whole bool) slack.Block {
	var row []slack.BlockElement
	if passcode.Takes(p) {
		yes, no := answers(p)
		if whole {
			row = append(row, button(Approve, p.UUID, yes).WithStyle(slack.StylePrimary))
		}
		row = append(row, button(Reject, p.UUID, no+"…").WithStyle(slack.StyleDanger), button(Later, p.UUID, "Not now"))
	}
	if link != "" {
		row = append(row, button(Open, p.UUID, "Open on the page").WithURL(link))
	}
	if len(row) == 0 {
		return contextOf("It is decided on the agent's page.")
	}
	return slack.NewActionBlock("decide", row...)
}

func button(action, value, label string) *slack.ButtonBlockElement {
	return slack.NewButtonBlockElement(action, value, slack.NewTextBlockObject(slack.PlainTextType, label, false, false))
}

// maxText is how many characters Slack takes in a text of a block, after they were escaped.
const maxText = 3000

// section returns a text in mrkdwn. Slack adds no links to it.
func section(text string) *slack.SectionBlock {
	return slack.NewSectionBlock(markup(text), nil, nil)
}

func contextOf(lines ...string) *slack.ContextBlock {
	return slack.NewContextBlock("", markup(strings.Join(lines, "\n")))
}

func markup(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.MarkdownType, mrkdwn.Cut(text, maxText), false, true)
}

// quoted escapes a text, and shortens the result to a number of characters.
func quoted(text string, limit int) string { return mrkdwn.Cut(mrkdwn.Escape(text), limit) }

// preformatted shows a text as it is: nothing in it is markup.
func preformatted(id, text string) *slack.RichTextBlock {
	return slack.NewRichTextBlock(id, &slack.RichTextPreformatted{
		Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)},
	})
}

// cut shortens a text to a number of characters.
func cut(text string, limit int) string {
	r := []rune(text)
	if len(r) <= limit {
		return text
	}
	return string(r[:limit-1]) + "…"
}
