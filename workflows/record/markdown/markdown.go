package markdown

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// Encode returns a conversation as Markdown.
func Encode(d document.Conversation) []byte {
	var p page
	p.head(d)
	for _, m := range d.Messages {
		p.message(m)
	}
	for _, a := range d.PendingApprovals {
		p.heading("Waits for a decision: "+code(a.ToolName), a.CreatedAt)
		p.block(quote(a.Description))
		p.block(fence("json", indented(a.ToolArgs.Raw)))
	}
	return p.Bytes()
}

// page is a document under construction.
type page struct{ bytes.Buffer }

// block adds a block and an empty line. An empty block is left out.
func (p *page) block(text string) {
	if text != "" {
		p.WriteString(text + "\n\n")
	}
}

func (p *page) heading(text string, at time.Time) { p.block("## " + text + " · " + when(at)) }

func (p *page) head(d document.Conversation) {
	p.block("# " + plain(cmp.Or(d.Title, firstLine(d.Messages), "Conversation")))
	facts := []string{"- Conversation " + code(d.ID) + ", " + string(d.Status)}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, "- "+name+" "+value)
		}
	}
	add("Agent", plain(d.Agent))
	add("Started", when(d.CreatedAt)+by(d.Owner.Subject))
	add("Last change", when(d.UpdatedAt))
	if d.Renamed != nil {
		add("Named", when(d.Renamed.At)+by(d.Renamed.By))
	}
	for _, u := range d.Prompts {
		add("Prompt since", when(u.At)+by(u.By)+": "+plain(u.String()))
	}
	add("Problem:", plain(d.Problem))
	p.block(strings.Join(facts, "\n"))
}

func (p *page) message(m document.Message) {
	switch c := m.ToolCall; {
	case m.Approval != nil:
		p.decision(m)
	case c == nil:
		p.heading(sender(m), m.CreatedAt)
		p.block(quote(m.Content))
		p.media(m.Media)
	case m.Role == contract.RoleTool:
		p.result(m)
	default:
		p.heading("Call of "+code(c.Name)+node(m), m.CreatedAt)
		p.block(quote(m.Content))
		p.block(fence("json", indented(c.Arguments)))
	}
}

func (p *page) decision(m document.Message) {
	a := m.Approval
	decision, changed := string(a.Decision), a.Revision != nil && len(a.Revision.Changes) > 0
	if changed {
		decision += " with changes"
	}
	p.heading("Decision: "+decision+by(a.By), cmp.Or(a.DecidedAt, m.CreatedAt))
	p.block("About the call of " + code(a.Tool) + ", whose arguments have the SHA-256 " + code(a.ArgumentsSHA256))
	if changed {
		p.block("It was approved with these arguments instead, whose SHA-256 is " + code(a.Revision.SHA256) + ":")
		p.block(fence("json", indented(a.Revision.Arguments.Raw)))
	}
	p.block(quote(a.Reason))
}

func (p *page) result(m document.Message) {
	c, word := m.ToolCall, "Result of "
	if c.IsError {
		word = "Error of "
	}
	p.heading(word+code(c.Name)+node(m), m.CreatedAt)
	p.block(fence("", c.Result))
	p.block(quote(c.Note))
	p.media(c.Media)
}

func (p *page) media(list []document.Media) {
	var lines []string
	for _, m := range list {
		lines = append(lines, fmt.Sprintf("- File %s, %s, %d bytes, SHA-256 %s", code(m.Name), code(m.MIMEType), m.Size, code(m.SHA256)))
	}
	p.block(strings.Join(lines, "\n"))
}

func sender(m document.Message) string {
	switch m.Role {
	case contract.RoleUser:
		subject := ""
		if m.Identity != nil {
			subject = m.Identity.Subject
		}
		return "Message" + by(subject)
	case contract.RoleSystem:
		return "Prompt"
	}
	return "Reply" + node(m)
}

func node(m document.Message) string {
	if m.Node == "" {
		return ""
	}
	return " in node " + plain(m.Node)
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return " by " + plain(name)
}

func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// firstLine returns the beginning of the first message of a person.
func firstLine(messages []document.Message) string {
	for _, m := range messages {
		if m.Role == contract.RoleUser && m.Approval == nil {
			line, _, _ := strings.Cut(strings.TrimSpace(m.Content), "\n")
			return line
		}
	}
	return ""
}

func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	if len(raw) == 0 || json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
