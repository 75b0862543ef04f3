package projection

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

// Wanted is a message that a thread is to have.
type Wanted struct {
	// Key says what it shows: TURN.PART.PIECE, TURN.PART.stop, or card.UUID.
	Key string
	card.Message
	Flow *Flow // of a reply; nil for others
}

// CardKey begins the keys of cards.
const CardKey = "card."

// Draft is a text that is being written.
type Draft struct{ id, node, text string }

// Drafts are those that are not recorded yet, in their order.
type Drafts []Draft

// Take takes what a reader has received. A node that begins another draft has given up the
// former.
func (d Drafts) Take(i live.Item) Drafts {
	switch {
	case i.Draft != nil:
		d = slices.DeleteFunc(d, func(x Draft) bool { return x.id == i.Draft.ID || x.node == i.Draft.Node })
		return append(d, Draft{id: i.Draft.ID, node: i.Draft.Node})
	case i.Delta != nil && i.Delta.Kind == generation.Text:
		for n := range d {
			if d[n].id == i.Delta.DraftID {
				d[n].text += i.Delta.Text
			}
		}
	}
	return d
}

// Recorded drops the drafts that a state has, or all if no turn runs.
func (d Drafts) Recorded(s *record.State) Drafts {
	if !s.Running {
		return nil
	}
	return slices.DeleteFunc(d, func(x Draft) bool {
		return slices.ContainsFunc(s.Messages, func(m contract.Message) bool { return m.DraftID == x.id || m.ID == x.id })
	})
}

// part is what the agent says between two decisions of a turn.
type part struct {
	turn, number int
	texts        []string
	tasks        []task
	drafts       int // of the texts, at their end
}

// parts returns those of the turns from a number on.
func parts(entries []record.Entry, from int) (out []part) {
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
			last.tasks = append(last.tasks, callOf(e))
		case record.KindResult:
			answer(out, e)
		case record.KindDecision:
			out = append(out, part{turn: e.Turn, number: last.number + 1, tasks: last.split()})
		}
	}
	return out
}

// Of returns what a thread shows of the turns from a number on, and of what waits. link
// returns the address of an approval on the page.
func Of(s *record.State, d Drafts, from int, link func(uuid string) string) []Wanted {
	var out []Wanted
	waits := len(s.Document.PendingApprovals) > 0
	all := parts(s.Entries(), from)
	for n, p := range all {
		if n < len(all)-1 {
			out = append(out, p.messages("", "")...)
			continue
		}
		for _, x := range d {
			if text := strings.TrimSpace(x.text); text != "" {
				p.texts, p.drafts = append(p.texts, text), p.drafts+1
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
			out = append(out, Wanted{Key: CardKey + p.UUID, Message: card.Waiting(p, link(p.UUID))})
		}
	}
	return out
}

// status says what a turn does.
func (p part) status() string {
	if calls := p.calls(); len(calls) > 0 {
		return "Calling " + strings.Join(calls, ", ") + " …"
	}
	return "Working …"
}

// messages returns the pieces of a part. The last one has the status and, with the ID of the
// conversation, a stop button.
func (p part) messages(status, conversation string) (out []Wanted) {
	text := mrkdwn.FromMarkdown(strings.TrimSpace(strings.Join(p.texts, "\n\n")))
	if text == "" && status == "" {
		return nil
	}
	pieces := mrkdwn.Split(text, card.MaxReply)
	for n, piece := range pieces {
		w := Wanted{Key: fmt.Sprintf("%d.%d.%d", p.turn, p.number, n), Message: card.Reply(piece, "", ""), Flow: &Flow{text: piece, closed: true, tasks: p.tasks}}
		if n == len(pieces)-1 {
			w.Message = card.Reply(piece, status, conversation)
			*w.Flow = Flow{text: piece, Open: status != "", drafting: p.drafts > 0, drafts: p.drafts > 1, tasks: p.tasks}
			w.Flow.Stop = working(w.Key, conversation)
		}
		out = append(out, w)
	}
	return out
}
