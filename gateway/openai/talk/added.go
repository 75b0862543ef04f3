package talk

import (
	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Cards returns the texts about approvals that wait.
func (r *Run) Cards(waiting []contract.PendingApproval) (string, error) {
	if len(waiting) == 0 {
		return "", nil
	}
	return r.Desk.Cards(waiting, r.query.Caller, r.http)
}

// added returns what the gateway adds to what the agent said: cards of what waits.
func (r *Run) added(reply exchange.Reply) (string, error) {
	cards, err := r.Cards(reply.Approvals())
	if err == nil && cards != "" && reply.Text != "" {
		cards = "\n\n" + cards
	}
	return cards, err
}

// Shown returns the text of a reply, with the cards of what waits. A client that asked for JSON gets
// the answer alone.
func (r *Run) Shown(reply exchange.Reply) (string, error) {
	if r.in.Schema != nil && reply.Response != "" {
		return reply.Response, nil
	}
	added, err := r.added(reply)
	return reply.Text + added, err
}

// Answer returns the text of a whole reply, and notes the chat that the client then has. If all of it is that the model
// failed it returns the error for that.
func (r *Run) Answer(reply exchange.Reply) (string, error) {
	text, err := r.Shown(reply)
	if err == nil && reply.Failure != "" && text == reply.Failure {
		err = openai.ModelFailed(reply.Failure)
	}
	if err == nil {
		r.Remember(reply, text)
	}
	return text, err
}

// refuse makes the notice that the message was not sent because of what waits.
func (r *Run) refuse(waiting []contract.PendingApproval) error {
	if len(waiting) == 0 {
		return service.Errorf(contract.KindWaiting, "the conversation waits for an approval")
	}
	cards, err := r.Cards(waiting)
	r.Notice = history.Unsent + ", because this waits for a decision first.\n\n" + cards
	return err
}
