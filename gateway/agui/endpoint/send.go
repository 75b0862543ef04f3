package endpoint

import (
	"errors"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// start starts the conversation. When somebody else has started it meanwhile, the message
// is one more.
func (r *run) start(m inputMessage) error {
	first := r.message(m)
	opened, err := r.endpoint.service.Start(r.ctx(), callOf(r.c).Caller, service.NewConversation{Request: r.request(m), Message: &first})
	if err != nil || !opened.Existed {
		return err
	}
	return r.send([]inputMessage{m})
}

// send sends messages. A repeated one is carried out once.
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

// request is the request of a message: the same when the message comes again.
func (r *run) request(m inputMessage) service.Request {
	return service.Request{
		ConversationID: r.id, ID: contract.NameUUID(r.id, "ag-ui "+m.ID), Repeatable: true,
		Fingerprint: contract.Hash([]byte(m.Content.text))[:16],
	}
}

// message is a message as the service takes it. A run answers what waits by its resume.
func (r *run) message(m inputMessage) service.Message {
	out := service.Message{Text: m.Content.text, ClientID: m.ID, Tools: r.in.tools(), NoAnswer: true}
	if m.ID == r.messages[0].ID {
		out.Preface = r.in.preface()
	}
	return out
}

// decideAll gives the decisions, and with messages to come waits until they count:
// until then the conversation takes no message.
func (r *run) decideAll() error {
	for _, d := range r.decisions {
		if err := r.decide(d); err != nil {
			return err
		}
	}
	if len(r.decisions) == 0 || len(r.messages) == 0 {
		return nil
	}
	t := turn{approvals: r.approvals(), least: r.thread.view}
	r.reader.RequestRead()
	return unlessClosing(r.reader.Await(r.ctx(), r.endpoint.service.Closing(), func(s *record.State) bool {
		return !t.early(*s) && t.resumed(*s)
	}))
}

func (r *run) approvals() []string {
	var out []string
	for _, d := range r.decisions {
		out = append(out, d.uuid)
	}
	return out
}

// explainDecided says of a failure after a decision was sent that it was, and that its call
// may have run.
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

// decide gives a decision. Somebody else may have been faster.
func (r *run) decide(d decision) error {
	_, err := r.endpoint.service.Decide(r.ctx(), callOf(r.c).Caller, service.Decision{UUID: d.uuid, Signal: d.in})
	if err != nil {
		return err
	}
	r.decided = true
	record, err := r.endpoint.service.DecisionRecord(r.ctx(), d.uuid)
	if err != nil {
		return unlessClosing(err)
	}
	if !d.agrees(record) {
		return d.late(record)
	}
	return nil
}
