package slackchat

import (
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/mrkdwn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

// wanted is a message that a thread is to have. Its key says what it shows: TURN.PART.PIECE, or
// card.UUID.
type wanted struct {
	key string
	card.Message
}

const cardKey = "card."

// draft is a text that is being written.
type draft struct{ id, node, text string }

// drafts are those that are not recorded yet, in their order.
type drafts []draft

// take takes what a reader has received. A node that begins another draft has given up the
// former.
func (d drafts) take(i live.Item) drafts {
	switch {
	case i.Draft != nil:
		d = slices.DeleteFunc(d, func(x draft) bool { return x.id == i.Draft.ID || x.node == i.Draft.Node })
		return append(d, draft{id: i.Draft.ID, node: i.Draft.Node})
	case i.Delta != nil && i.Delta.Kind == generation.Text:
		for n := range d {
			if d[n].id == i.Delta.DraftID {
				d[n].text += i.Delta.Text
			}
		}
	}
	return d
}

// recorded drops the drafts that a state has, or all if no turn runs.
func (d drafts) recorded(s *record.State) drafts {
	if !s.Running {
		return nil
	}
	return slices.DeleteFunc(d, func(x draft) bool {
		return slices.ContainsFunc(s.Messages, func(m contract.Message) bool { return m.DraftID == x.id || m.ID == x.id })
	})
}

// part is what the agent says between two decisions of a turn.
type part struct {
	turn, number int
	texts        []string
	calls        []string // tools that are being called
}

// parts returns those of the turns from a number on.
func parts(entries []record.Entry, from int) (out []part) {
	answered := map[int]bool{}
	for _, e := range entries {
		if e.Kind == record.KindResult {
			answered[e.Answers] = true
		}
	}
	for _, e := range entries {
		if e.Turn < from {
			continue
		}
		if len(out) == 0 || out[len(out)-1].turn != e.Turn {
			out = append(out, part{turn: e.Turn})
		}
		last := &out[len(out)-1]
		switch e.Kind {
		case record.KindText:
			if e.Text != "" {
				last.texts = append(last.texts, e.Text)
			}
		case record.KindCall:
			if !answered[e.Seq] {
				last.calls = append(last.calls, e.ToolCall.Name)
			}
		case record.KindDecision:
			out = append(out, part{turn: e.Turn, number: last.number + 1})
		}
	}
	return out
}

// project returns what a thread shows of the turns from a number on, and of what waits. link
// returns the address of an approval on the page.
func project(s *record.State, d drafts, from int, link func(uuid string) string) []wanted {
	var out []wanted
	waits := len(s.Document.PendingApprovals) > 0
	all := parts(s.Entries(), from)
	for n, p := range all {
		if n < len(all)-1 {
			out = append(out, p.messages("", "")...)
			continue
		}
		for _, x := range d {
			if text := strings.TrimSpace(x.text); text != "" {
				p.texts = append(p.texts, text)
			}
		}
		switch {
		case s.Running:
			out = append(out, p.messages(p.status(), s.View.ID)...)
		case !waits && len(p.texts) == 0 && s.View.Queued == 0:
			p.texts = []string{s.Response}
			if s.Response == "" {
				p.texts = []string{"The turn has ended without an answer."}
			}
			fallthrough
		default:
			out = append(out, p.messages("", "")...)
		}
	}
	for _, p := range s.Document.PendingApprovals {
		if p.Reason != contract.ReasonClientTool {
			out = append(out, wanted{cardKey + p.UUID, card.Waiting(p, link(p.UUID))})
		}
	}
	return out
}

// status says what a turn does.
func (p part) status() string {
	if len(p.calls) > 0 {
		return "Calling " + strings.Join(p.calls, ", ") + " …"
	}
	return "Working …"
}

// messages returns the pieces of a part. The last one has the status and, with the ID of the
// conversation, a stop button.
func (p part) messages(status, conversation string) (out []wanted) {
	text := mrkdwn.FromMarkdown(strings.TrimSpace(strings.Join(p.texts, "\n\n")))
	if text == "" && status == "" {
		return nil
	}
	pieces := mrkdwn.Split(text, card.MaxReply)
	for n, piece := range pieces {
		m := card.Reply(piece, "", "")
		if n == len(pieces)-1 {
			m = card.Reply(piece, status, conversation)
		}
		out = append(out, wanted{fmt.Sprintf("%d.%d.%d", p.turn, p.number, n), m})
	}
	return out
}
