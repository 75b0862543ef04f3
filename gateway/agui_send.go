package gateway

import (
	"context"
	"encoding/json"
	"errors"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/transcript"
)

// startWith starts the conversation. When somebody else has started it meanwhile,
// the message is one more.
func (r *run) startWith(m inputMessage) error {
	ctx, cancel := sending(r.c)
	defer cancel()
	first, blobs, err := r.signalOf(ctx, m)
	if err != nil {
		return err
	}
	started, err := r.Backend.Start(ctx, service.StartInput{
		Conversation: contract.ConversationInput{ID: r.id, SessionID: sessionOf(r.c), Agent: r.Agent, First: &first},
		Fingerprint:  first.Fingerprint, CreatedAt: r.Now(), Keep: blobs.keeper(),
	})
	if err != nil || !started.Existed {
		return err
	}
	return r.hand(ctx, first, blobs)
}

// send sends messages. A repeated one is carried out once.
func (r *run) send(messages []inputMessage) error {
	ctx, cancel := sending(r.c)
	defer cancel()
	for _, m := range messages {
		signal, blobs, err := r.signalOf(ctx, m)
		if err != nil {
			return err
		}
		if err := r.hand(ctx, signal, blobs); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) hand(ctx context.Context, m contract.MessageSignal, blobs *staged) error {
	known, err := r.deliver(ctx, r.id, contract.SignalMessage, m, blobs)
	if err != nil {
		return err
	}
	return known.refused()
}

func (r *run) ticket(m inputMessage) ticket {
	return ticket{
		conversationID: r.id, requestID: contract.NameUUID(r.id, "ag-ui "+m.ID),
		fingerprint: contract.Sum([]byte(m.Content.text))[:16],
	}
}

func (r *run) signalOf(ctx context.Context, m inputMessage) (contract.MessageSignal, *staged, error) {
	var preface string
	if m.ID == r.messages[0].ID {
		preface = r.in.preface()
	}
	t, blobs := r.ticket(m), r.stage()
	stored, err := transcript.Text(ctx, blobs, preface+m.Content.text)
	if err != nil {
		return contract.MessageSignal{}, nil, err
	}
	tools, err := r.tools(ctx, blobs)
	if err != nil {
		return contract.MessageSignal{}, nil, err
	}
	sealed, err := r.seal(r.c, r.id)
	return contract.MessageSignal{
		RequestID: t.requestID, Fingerprint: t.fingerprint, Text: stored, Preface: len(preface), Name: m.ID, Tools: tools, Credential: sealed,
		NoAnswer: true, // a run answers what waits by its resume
	}, blobs, err
}

// tools are the client's, as a message brings them.
func (r *run) tools(ctx context.Context, blobs *staged) (contract.JSON, error) {
	if len(r.in.Tools) == 0 {
		return contract.JSON{}, nil
	}
	raw, err := json.Marshal(r.in.tools())
	if err != nil {
		return contract.JSON{}, err
	}
	return transcript.JSON(ctx, blobs, raw)
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
	t := turn{approvals: r.approvals(), least: r.view}
	r.reader.RequestRead()
	return closing(r.reader.Await(r.c.Request().Context(), r.base, func(s *record.State) bool { return !t.early(*s) && t.resumed(*s) }))
}

func (r *run) approvals() []string {
	var out []string
	for _, d := range r.decisions {
		out = append(out, d.uuid)
	}
	return out
}

// unread says of a failure behind a decision that was sent that it was, and that its call
// may have run.
func (r *run) unread(err error) error {
	if !r.decided || inBand(err) || errors.Is(err, service.ErrClosing) || r.c.Request().Context().Err() != nil {
		return err
	}
	kind := service.KindUnavailable
	if known := new(service.Error); errors.As(err, &known) && statuses[known.Kind] != 0 {
		kind = known.Kind
	}
	return service.Errorf(kind, "a decision of the run was sent, and what it approved may have run; the rest of the run cannot be carried out or read now: %s", problemOf(err)).Because(err)
}

// decide gives a decision. Somebody else may have been faster.
func (r *run) decide(d decision) error {
	in := d.in
	about := reasonBody{Reason: in.Reason}
	if err := about.check(r.c); err != nil {
		return err
	}
	in.By = about.By
	sealed, err := r.sealDecision(r.c, d.uuid)
	if err != nil {
		return err
	}
	in.Credential = sealed
	if _, err := r.sendDecision(r.c, d.uuid, in); err != nil {
		return err
	}
	r.decided = true
	record, err := r.decisionRecord(r.c, d.uuid)
	if err != nil {
		return closing(err)
	}
	if !d.agrees(record) {
		return d.late(record)
	}
	return nil
}
