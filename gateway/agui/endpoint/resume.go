package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

// Error kinds of a run that answers waiting approvals; they are the codes of RUN_ERROR.
// Nothing was done then, except where a decision came too late.
const (
	KindInterruptUnknown    contract.Kind = "interrupt_unknown"
	KindInterruptDuplicate  contract.Kind = "interrupt_duplicate"
	KindInterruptUnresolved contract.Kind = "interrupt_unresolved"
	KindInterruptResolved   contract.Kind = "interrupt_already_resolved"
	KindResumeInvalid       contract.Kind = "resume_invalid"
)

const (
	statusResolved  = "resolved"
	statusCancelled = "cancelled"
)

const reasonCancelled = "cancelled by the client"

// viaAGUI marks decisions that came with a run.
const viaAGUI = "ag-ui"

// resumeEntry answers an interrupt, which is a waiting approval.
type resumeEntry struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload"`
}

// UnmarshalJSON implements json.Unmarshaler. It refuses duplicate keys, and clears what an
// earlier element of the same slice left.
func (e *resumeEntry) UnmarshalJSON(data []byte) error {
	type plain resumeEntry
	if key := request.Duplicate(data, "interruptId", "status", "payload"); key != "" {
		return fmt.Errorf("resume: %s is there twice", key)
	}
	*e = resumeEntry{}
	return json.Unmarshal(data, (*plain)(e))
}

// resumePayload is the answer to a resolved interrupt. Args are optional and must equal those that were
// shown; EditedArgs are the arguments with changes (edited.go).
type resumePayload struct {
	Approved   *bool           `json:"approved"`
	Reason     string          `json:"reason"`
	Args       json.RawMessage `json:"args"`
	EditedArgs json.RawMessage `json:"editedArgs"`
	Content    json.RawMessage `json:"content"`
}

// decision is a decision to be sent.
type decision struct {
	uuid string
	in   contract.DecideSignal
}

// decisions checks the answers of a run to everything that waits, and returns the decisions
// to send.
func (ep *Endpoint) decisions(ctx context.Context, in runInput, t thread) ([]decision, error) {
	var out []decision
	answered := map[string]bool{}
	for _, e := range in.Resume {
		if answered[e.InterruptID] {
			return nil, service.Errorf(KindInterruptDuplicate, "interrupt %s is answered twice", service.Printable(e.InterruptID))
		}
		answered[e.InterruptID] = true
		p, open := t.interrupt(e.InterruptID)
		if !open {
			if err := ep.checkRepeated(ctx, e, t); err != nil {
				return nil, err
			}
			continue
		}
		d, err := e.decide(p)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return in.complete(t, answered, out)
}

// complete adds the results of the client's own calls and fails if an approval stays
// unanswered.
func (in runInput) complete(t thread, answered map[string]bool, out []decision) ([]decision, error) {
	for _, p := range t.state.Document.PendingApprovals {
		if p.Reason == contract.ReasonClientTool {
			d, ok, err := in.result(p, agui.ToolCallID(*t.state, p))
			if err != nil {
				return nil, err
			}
			if answered[p.UUID] = ok; ok {
				out = append(out, d)
			}
		}
		if !answered[p.UUID] {
			return nil, service.Errorf(KindInterruptUnresolved, "%s (%s) waits for an answer, and the run brings none", p.UUID, p.ToolName)
		}
	}
	return out, nil
}

// checkRepeated checks an answer to an approval that no longer waits: it must equal the
// recorded decision.
func (ep *Endpoint) checkRepeated(ctx context.Context, e resumeEntry, t thread) error {
	unknown := service.Errorf(KindInterruptUnknown, "interrupt %s is not known in this thread", service.Printable(e.InterruptID))
	if !contract.IsUUID(e.InterruptID) {
		return unknown
	}
	view, err := ep.service.Approval(ctx, e.InterruptID)
	switch {
	case service.IsKind(err, contract.KindNotFound):
		if view.Result = t.record(e.InterruptID); view.Result == nil {
			return unknown
		}
	case err != nil:
		return err
	case view.Result == nil, view.Pending.ConversationID != t.view.ID, view.Pending.Reason == contract.ReasonClientTool:
		return unknown
	}
	if view.Pending, err = ep.service.Pending(ctx, view.Pending); err != nil {
		return err
	}
	d, err := e.decide(view.Pending)
	if err != nil {
		return err
	}
	if !d.agrees(*view.Result) {
		return d.conflict(*view.Result)
	}
	return nil
}

func (e resumeEntry) decide(p contract.PendingApproval) (decision, error) {
	if e.Status == statusCancelled {
		return newDecision(p.UUID, contract.DecideSignal{Reason: reasonCancelled}), nil
	}
	payload, err := e.payload()
	if err != nil {
		return decision{}, err
	}
	if args := payload.Args; len(args) > 0 && !bytes.Equal(service.CanonicalJSON(args), service.CanonicalJSON(p.ToolArgs.Raw)) {
		return decision{}, e.invalid("args are not those that were shown; changes are editedArgs")
	}
	in := contract.DecideSignal{Approved: payload.Approved != nil && *payload.Approved, Reason: payload.Reason}
	if in.Edit, err = edited(payload.EditedArgs, p); err != nil {
		return decision{}, e.invalid(err.Error())
	}
	if len(in.Edit) > 0 && (!in.Approved || p.TakesContent()) {
		return decision{}, e.invalid("changes of arguments come with a yes to a call")
	}
	if p.TakesContent() {
		return e.answer(p, payload)
	}
	if payload.Approved == nil || len(payload.Content) > 0 {
		return decision{}, e.invalid(`expected a payload {"approved":true} or {"approved":false}, with a reason if there is one`)
	}
	return newDecision(p.UUID, in), nil
}

func (e resumeEntry) payload() (resumePayload, error) {
	var p resumePayload
	dec := json.NewDecoder(bytes.NewReader(e.Payload))
	dec.DisallowUnknownFields() // an unknown member may matter to the sender
	if err := dec.Decode(&p); err != nil {
		return p, e.invalid("payload: " + request.DecodeErrorText(err))
	}
	if key := request.Duplicate(e.Payload, "approved", "reason", "args", "editedArgs", "content"); key != "" {
		return p, e.invalid("payload: " + key + " is there twice")
	}
	if len(p.Reason) > service.MaxReason {
		return p, e.invalid("payload: the reason is too long")
	}
	return p, nil
}

func (e resumeEntry) invalid(text string) error {
	return service.Errorf(KindResumeInvalid, "interrupt %s: %s", service.Printable(e.InterruptID), text)
}

// answer reads the answer to a question, ours or another agent's, by its schema.
func (e resumeEntry) answer(p contract.PendingApproval, payload resumePayload) (decision, error) {
	if payload.Approved != nil && !*payload.Approved {
		return newDecision(p.UUID, contract.DecideSignal{Reason: payload.Reason}), nil
	}
	raw, err := json.Marshal(struct {
		Content  json.RawMessage `json:"content"`
		Approved *bool           `json:"approved,omitempty"`
	}{orNull(payload.Content), payload.Approved})
	if err != nil {
		return decision{}, e.invalid(err.Error())
	}
	given, err := answer.ParseQuestion(raw, p.Schema.Raw)
	if err != nil {
		return decision{}, e.invalid(err.Error())
	}
	return newDecision(p.UUID, contract.DecideSignal{
		Approved: given.Approved, Reason: payload.Reason, Content: contract.JSON{Raw: given.Content},
	}), nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// result reads the result of a client's call from the last message about it.
func (in runInput) result(p contract.PendingApproval, call string) (d decision, ok bool, err error) {
	for _, m := range slices.Backward(in.Messages) {
		if m.Role != "tool" || call == "" || m.ToolCallID != call {
			continue
		}
		content, err := json.Marshal(clientResult{m.result(), m.Error != ""})
		if len(content) > maxAnswer {
			return d, false, service.Errorf(KindResumeInvalid, "the result of %s is too large: the limit is %d bytes", p.ToolName, maxAnswer)
		}
		return newDecision(p.UUID, contract.DecideSignal{Approved: true, Content: contract.JSON{Raw: content}}), true, err
	}
	return d, false, nil
}

// clientResult is the content that answers a client's call.
type clientResult struct {
	Content string `json:"content"`
	IsError bool   `json:"is_error"`
}

// newDecision derives the request ID from the content, so that a repeated decision has the
// same ID.
func newDecision(uuid string, in contract.DecideSignal) decision {
	in.Via = viaAGUI
	content, _ := json.Marshal(in) // strings and valid JSON
	in.RequestID = contract.NameUUID(uuid, "ag-ui "+contract.Hash(content))
	return decision{uuid, in}
}

// agrees reports whether an approval ended as the decision wants. An approval whose call will
// never run counts as rejected.
func (d decision) agrees(r contract.ApprovalResult) bool {
	if r.RequestID == d.in.RequestID {
		return true
	}
	return r.Agrees(d.in) &&
		(!d.in.Approved || bytes.Equal(service.CanonicalJSON(orNull(r.Content.Raw)), service.CanonicalJSON(orNull(d.in.Content.Raw))))
}

func (d decision) conflict(r contract.ApprovalResult) error {
	return service.Errorf(KindInterruptResolved, "interrupt %s was already %s", d.uuid, r.Decision)
}
