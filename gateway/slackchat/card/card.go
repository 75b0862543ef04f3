package card

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
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

// Waiting returns the card of an approval that waits. link leads to its card on the page. Only what
// is shown whole can be approved in Slack.
func Waiting(p contract.PendingApproval, link string) Message {
	args, problem := arguments(p)
	whole := problem == "" && len(p.Description) <= maxShown
	blocks := head(p)
	blocks = append(blocks, body(p, args, problem)...)
	lines := []string{"Why: " + mrkdwn.Escape(why(p))}
	if p.ExpiresAt != nil {
		lines = append(lines, fmt.Sprintf("Without a decision it expires <!date^%d^{date_short_pretty} at {time}|%s>.", p.ExpiresAt.Unix(), p.ExpiresAt.UTC().Format(time.RFC1123)))
	}
	if hint := instead(p, whole); hint != "" {
		lines = append(lines, hint)
	}
	blocks = append(blocks, contextOf(lines...), buttons(p, link, whole))
	return Message{Text: mrkdwn.Escape(title(p)), Blocks: blocks}
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
	text := "*" + mrkdwn.Escape(Outcome(r)) + "*"
	if reason := strings.TrimSpace(r.Reason); reason != "" {
		text += "\nReason: " + mrkdwn.Escape(cut(reason, 1000))
	}
	blocks = append(blocks, section(text))
	if link != "" {
		blocks = append(blocks, contextOf(fmt.Sprintf("<%s|On the page>", link)))
	}
	return Message{Text: mrkdwn.Escape(title(p)) + ": " + mrkdwn.Escape(Outcome(r)), Blocks: blocks}
}

// Gone returns the card of an approval that is not there any more.
func Gone() Message {
	const text = "This approval is not there any more: its conversation was deleted, or it ended long ago."
	return Message{Text: text, Blocks: []slack.Block{section(text)}}
}

func head(p contract.PendingApproval) []slack.Block {
	what := mrkdwn.Code(tool(p))
	if p.Server != "" {
		what += " on " + mrkdwn.Code(p.Server)
	}
	lines := []string{what, "Agent: " + mrkdwn.Escape(cut(agentOf(p), 300))}
	if who := p.Requester.Subject; who != "" {
		lines = append(lines, "For: "+mrkdwn.Escape(cut(who, 200)))
	}
	return []slack.Block{
		slack.NewHeaderBlock(slack.NewTextBlockObject(slack.PlainTextType, cut(title(p), 150), false, false)),
		section(strings.Join(lines, "\n")),
	}
}

// body shows what others have said of the call, and its arguments.
func body(p contract.PendingApproval, args, problem string) []slack.Block {
	var blocks []slack.Block
	if text := strings.TrimSpace(p.Description); text != "" {
		blocks = append(blocks, preformatted("description", cut(text, maxShown)))
	}
	switch {
	case problem != "":
		blocks = append(blocks, section(problem))
	case args != "":
		blocks = append(blocks, section("Arguments:"), preformatted("arguments", args))
	}
	return blocks
}

// secret matches names of arguments whose values do not belong into a chat.
var secret = regexp.MustCompile(`(?i)"[^"]*(passw|passphrase|secret|token|api_?key|private_?key|authorization|credential|cookie)[^"]*"\s*:`)

// arguments returns the arguments that will run, or why they are not shown here.
func arguments(p contract.PendingApproval) (text, problem string) {
	raw := p.ToolArgs
	if p.Origin != nil && !p.Origin.Arguments.IsZero() {
		raw = p.Origin.Arguments
	}
	switch {
	case raw.IsZero() || p.Question():
		return "", ""
	case raw.Blob != nil || len(raw.Raw) > maxShown:
		return "", "The arguments are too long to be shown here whole: read them on the page."
	case secret.Match(raw.Raw):
		return "", "The arguments seem to contain a secret, which is not shown here: read them on the page."
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

// section returns a text in mrkdwn. Slack adds no links to it.
func section(text string) *slack.SectionBlock {
	return slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, true), nil, nil)
}

func contextOf(lines ...string) *slack.ContextBlock {
	return slack.NewContextBlock("", slack.NewTextBlockObject(slack.MarkdownType, strings.Join(lines, "\n"), false, true))
}

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
