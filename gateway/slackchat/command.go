package slackchat

import (
	"context"
	"iter"
	"slices"
	"strings"

	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/projection"
	"agent-stop-and-go/workflows/contract"
)

// commandsOf are the names of the commands of a text, with the mark, and the first words of its other
// lines.
func commandsOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			words := strings.Fields(strings.ToLower(line))
			if len(words) > 0 && !yield(words[0]) {
				return
			}
		}
	}
}

// onlyCommands reports whether each line of a text is a command.
func onlyCommands(text string) bool {
	for name := range commandsOf(text) {
		if !strings.HasPrefix(name, "!") || strings.HasPrefix(name, "!!") {
			return false
		}
	}
	return true
}

// elsewhere refuses the commands with which a chat goes to another conversation.
func elsewhere(text string) error {
	for name := range commandsOf(text) {
		if name == "!new" || name == "!use" {
			return service.Errorf(contract.KindInvalid, "%s: in Slack a thread is a conversation. A message outside of this thread begins a new one, and a message in another thread goes on there. Nothing was carried out", name)
		}
	}
	return nil
}

// shown sets which conversation the thread of a command is, and which approvals the thread had shown when
// the command was written. Only those whose cards show them whole can be approved.
func (c *Chat) shown(ctx context.Context, m inbound, in *command.Input) error {
	var whole []string
	in.Approvable = func(uuid string) error {
		if slices.Contains(whole, uuid) {
			return nil
		}
		return c.onThePage(uuid)
	}
	id, err := c.conversation(ctx, m.place())
	if err != nil {
		return err
	}
	view, err := c.Service.Conversation(ctx, id, "")
	switch {
	case service.IsKind(err, contract.KindNotFound):
		return nil
	case err != nil:
		return err
	}
	in.ConversationID = id
	if len(view.Pending) == 0 || !choosesCard(in.Text) {
		return nil
	}
	oldest := view.Pending[0].CreatedAt
	for _, p := range view.Pending {
		if p.CreatedAt.Before(oldest) {
			oldest = p.CreatedAt
		}
	}
	there, err := c.scan(ctx, m.place(), id, stamp(oldest.Add(-skew))) // no card is older than its approval
	if err != nil {
		return service.Errorf(service.KindUnavailable, "Slack does not say which cards this thread has; nothing was carried out").Because(err)
	}
	for _, p := range view.Pending {
		posted := there.posts[projection.CardKey+p.UUID]
		if p.Reason == contract.ReasonClientTool || posted == nil || posted.ts >= m.ts { // timestamps of Slack have one length
			continue
		}
		in.Shown = append(in.Shown, p.UUID)
		if card.Whole(p) && !posted.refused {
			whole = append(whole, p.UUID)
		}
	}
	return nil
}

// choosesCard reports whether a command of a text is about an approval that is shown.
func choosesCard(text string) bool {
	for name := range commandsOf(text) {
		if name == "!approve" || name == "!reject" || name == "!later" {
			return true
		}
	}
	return false
}

// onThePage refuses to approve in Slack what it does not show whole.
func (c *Chat) onThePage(uuid string) error {
	where := ""
	if link := c.link(uuid); link != "" {
		where = " (" + link + ")"
	}
	return service.Errorf(contract.KindInvalid, "only a call that a card of this thread shows whole can be approved here. Read this one on the page%s, and decide it there", where)
}
