package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// model chooses the model of the conversation. The choice is recorded with the next message.
func (r run) model(ctx context.Context) (Reply, error) {
	names := r.service.Models()
	switch {
	case len(names) == 0:
		return Reply{}, r.service.CheckModel("?")
	case r.argument == "":
		return r.says("%s!model NAME chooses one of these for this conversation, @NAME TEXT for one message:\n  %s", r.chosen(ctx), strings.Join(names, "\n  ")), nil
	}
	if err := r.service.CheckModel(r.argument); err != nil {
		return Reply{}, err
	}
	reply := r.says("The next message is for %s, and so are all after it.", r.argument)
	reply.Model = r.argument
	return reply, nil
}

// chosen says which model was chosen for the conversation, to those who may read it.
func (r run) chosen(ctx context.Context) string {
	if r.in.ConversationID == "" {
		return ""
	}
	view, err := r.service.Conversation(ctx, r.in.ConversationID, "")
	if err != nil || view.Model == "" {
		return ""
	}
	return fmt.Sprintf("%s was chosen for this conversation.\n\n", view.Model)
}

// message returns the message that a text is. Without models to choose from, @ has no meaning.
func (r run) message(p parsed) (Reply, error) {
	reply := Reply{ConversationID: r.in.ConversationID, Message: &Message{Text: p.message}}
	names := r.service.Models()
	switch {
	case p.model == "":
		return reply, nil
	case len(names) == 0:
		reply.Message.Text = r.in.Text
	case strings.HasPrefix(p.model, mention): // twice
		reply.Message.Text = strings.TrimPrefix(strings.TrimSpace(r.in.Text), mention)
	case !slices.Contains(names, p.model):
		return Reply{}, service.Errorf(contract.KindInvalid, "@%s is none of the models that can be chosen: %s; a message that begins with @ begins with @@",
			service.Printable(p.model), strings.Join(names, ", "))
	case p.message == "":
		return Reply{}, service.Errorf(contract.KindInvalid, "the message for %s is missing", p.model)
	default:
		reply.Message.Model = p.model
	}
	return reply, nil
}
