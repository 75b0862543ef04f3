package endpoint

import (
	"errors"
	"slices"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/turn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// start starts the conversation. If another request has started it since, the message is sent
// to it.
func (r *run) start(m inputMessage) error {
	first := r.message(m)
	opened, err := r.endpoint.followers.Start(r.ctx(), r.endpoint.service, callOf(r.c).Caller, service.NewConversation{Request: r.request(m), Message: &first})
	if err != nil || !opened.Existed {
		return err
	}
	return r.send([]inputMessage{m})
}

// send sends messages. A message that was sent before is carried out only once.
func (r *run) send(messages []inputMessage) error {
	for _, m := range messages {
		known, err := r.endpoint.service.Send(r.ctx(), callOf(r.c).Caller, r.request(m), r.message(m))
		if err != nil {
			return err
		}
		if err := known.Refusal(); err != nil {
			return err
		}
	}
	return nil
}

// request returns the request of a message. It is the same when the message is sent again.
func (r *run) request(m inputMessage) service.Request {
	return service.Request{
		ConversationID: r.id, ID: contract.NameUUID(r.id, "ag-ui "+callOf(r.c).Caller.Own(m.ID)), Repeatable: true,
		Fingerprint: contract.Hash([]byte(m.Content.text))[:16],
	}
}

// message returns a message as input of the service. It never answers a question: a run
// answers with its resume entries.
func (r *run) message(m inputMessage) service.Message {
	out := service.Message{Text: m.Content.text, ClientID: m.ID, Tools: r.in.tools(), NoAnswer: true}
	if m.ID == r.messages[0].ID {
		out.Preface = r.in.preface()
	}
	return out
}

// decideAll sends the decisions. If messages follow, it waits until the approvals are closed:
// the conversation accepts no message before. Changes of arguments are first: the rules may refuse them,
// and then nothing was done.
func (r *run) decideAll() error {
	changesFirst := slices.Clone(r.decisions)
	slices.SortStableFunc(changesFirst, func(a, b decision) int { return min(1, len(b.in.Edit)) - min(1, len(a.in.Edit)) })
	for _, d := range changesFirst {
		if err := r.decide(d); err != nil {
			return err
		}
	}
	if len(r.decisions) == 0 || len(r.messages) == 0 {
		return nil
	}
	t := turn.Turn{Approvals: r.approvals(), Latest: r.thread.view}
	r.reader.RequestRead()
	return closingError(r.reader.Await(r.ctx(), r.endpoint.service.Closing(), func(s *record.State) bool {
		return !t.Stale(*s) && t.Decided(*s)
	}))
}

func (r *run) approvals() []string {
	var out []string
	for _, d := range r.decisions {
		out = append(out, d.uuid)
	}
	return out
}

// explainDecided adds to an error after a sent decision that the decision was sent and its
// call may have run.
func (r *run) explainDecided(err error) error {
	if !r.decided || inBand(err) || errors.Is(err, service.ErrClosing) || r.ctx().Err() != nil {
		return err
	}
	kind := service.KindUnavailable
	if known := new(service.Error); errors.As(err, &known) {
		kind = known.Kind
	}
	return service.Errorf(kind, "a decision of the run was sent, and what it approved may have run; the rest of the run cannot be carried out or read now: %s", service.Problem(err)).Because(err)
}

// decide sends a decision. It fails if the approval was decided otherwise before.
func (r *run) decide(d decision) error {
	caller := callOf(r.c).Caller
	if p, open := r.thread.interrupt(d.uuid); open {
		d.in.Via = caller.Via(d.in.Via, p, d.in.Approved)
	}
	receipt, err := r.endpoint.service.Decide(r.ctx(), caller, service.Decision{UUID: d.uuid, Signal: d.in})
	if err != nil {
		return d.refused(err)
	}
	r.decided = true
	record, err := r.endpoint.service.DecisionRecord(r.ctx(), receipt)
	if err != nil {
		return closingError(err)
	}
	if !d.agrees(record) {
		return d.conflict(record)
	}
	return nil
}
