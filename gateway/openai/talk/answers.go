package talk

import (
	"cmp"
	"slices"
	"strings"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/record"
)

// declined is the reason for calls that the client does not execute.
const declined = "the client went on without a result"

// decline gives up calls of the client's functions for which it brings no result.
func (r *Run) decline(state *record.State, calls []contract.PendingApproval) error {
	var decisions []service.Decision
	for _, p := range calls {
		decisions = append(decisions, service.Decision{UUID: p.UUID, Signal: contract.DecideSignal{
			Reason: declined, Via: r.Desk.Via, RequestID: contract.NameUUID(p.UUID, declined),
		}})
	}
	return r.settle(state, decisions)
}

// settle sends decisions, and waits until the conversation takes a message.
func (r *Run) settle(state *record.State, decisions []service.Decision) error {
	x, err := r.Exchanges.Decide(r.Done, r.caller, state, decisions, true)
	if err != nil {
		return err
	}
	defer x.Close()
	return x.Settle(r.http.Context())
}

// decide carries out a decision by code.
func (r *Run) decide(found history.Found) (*exchange.Exchange, error) {
	if found.State == nil {
		return nil, service.Errorf(contract.KindInvalid, "that code does not hold here: no conversation goes on with this chat. Nothing was decided")
	}
	d, err := r.Desk.Decision(*r.command, found.State.Document.PendingApprovals, r.query.Caller, r.http)
	if err != nil {
		if before := openai.DecidedBy(found.State, *r.command); before != nil && (r.query.Again || r.query.Key != "") {
			return r.Exchanges.JoinDecision(r.Done, found.State, *before, r.in.Live)
		}
		return nil, err
	}
	d.Echo = r.in.Echo
	return r.Exchanges.Decide(r.Done, r.caller, found.State, []service.Decision{d}, r.in.Live)
}

// answer sends results of calls and answers to approvals, and the message after them.
func (r *Run) answer() (*exchange.Exchange, error) {
	if err := r.nameCalls(); err != nil {
		return nil, err
	}
	state, decisions, before, err := r.decisions()
	if err != nil {
		return nil, err
	}
	switch {
	case !r.in.Says() && len(decisions) == 0:
		return r.Exchanges.JoinDecision(r.Done, state, *before, r.in.Live)
	case !r.in.Says():
		decisions[len(decisions)-1].Echo = r.in.Echo
		return r.Exchanges.Decide(r.Done, r.caller, state, decisions, r.in.Live)
	case len(decisions) > 0:
		if err := r.settle(state, decisions); err != nil {
			return nil, err
		}
	case len(r.in.Answers) == 0 && (state == nil || r.query.Named(state, r.Now()).Repeated == nil):
		return r.speak() // the results are part of the history
	}
	if state, err = r.Exchanges.Service.State(r.Done, state.View.ID); err != nil {
		return nil, err
	}
	found := r.query.Named(state, r.Now())
	if found.Repeated != nil {
		q := r.request(found)
		return r.Exchanges.Join(r.Done, q, q.ID, r.in.Live)
	}
	return r.say(found)
}

// nameCalls gives results without the ID of a call that of the call that waits in the chat.
func (r *Run) nameCalls() error {
	if !slices.ContainsFunc(r.in.Results, func(s Result) bool { return s.CallID == "" }) {
		return nil
	}
	found, err := r.find()
	if err != nil {
		return err
	}
	var waiting []contract.PendingApproval
	if found.State != nil {
		waiting = exchange.Reply{Waiting: found.State.Document.PendingApprovals}.Calls()
	}
	var results []Result
	for _, s := range r.in.Results {
		if s.CallID == "" {
			at := slices.IndexFunc(waiting, func(p contract.PendingApproval) bool { return s.Tool == "" || p.ToolName == s.Tool })
			if at < 0 && r.in.Says() { // it is history
				continue
			}
			if at < 0 {
				return service.Errorf(contract.KindInvalid, "no call of %s waits for a result in this chat", cmp.Or(service.Printable(s.Tool), "a tool"))
			}
			s.CallID = openai.CallID(waiting[at])
			waiting = slices.Delete(waiting, at, at+1)
		}
		results = append(results, s)
	}
	r.in.Results = results
	return nil
}

// decisions returns what the results and answers decide, all in one conversation, without those that
// were sent before; before is one of those.
func (r *Run) decisions() (state *record.State, decisions []service.Decision, before *contract.ApprovalResult, err error) {
	take := func(uuid string, decide func() (service.Decision, *contract.ApprovalResult, error)) error {
		if state == nil {
			if state, err = openai.StateOfCall(r.Done, r.Exchanges.Service, uuid); err != nil {
				return err
			}
			r.about(state.View.ID)
		}
		d, known, err := decide()
		if err != nil {
			return err
		}
		if known != nil {
			before = known
			return nil
		}
		decisions = append(decisions, d)
		return nil
	}
	bring := func(result Result) error {
		uuid, ok := openai.ApprovalOfCall(result.CallID)
		if !ok {
			return service.Errorf(contract.KindInvalid, "the call %s is not one of this agent", service.Printable(result.CallID))
		}
		return take(uuid, func() (service.Decision, *contract.ApprovalResult, error) {
			return r.Desk.Result(state, uuid, result.Text)
		})
	}
	for _, result := range r.in.Results {
		err := bring(result)
		past := service.IsKind(err, contract.KindDecided) || service.IsKind(err, contract.KindInvalid) || service.IsKind(err, deletion.KindDeleted)
		if err != nil && !(past && r.in.Says()) { // before a message, a call that no longer waits is history
			return nil, nil, nil, err
		}
	}
	for _, a := range r.in.Answers {
		if err := take(a.UUID, func() (service.Decision, *contract.ApprovalResult, error) {
			return r.Desk.Answer(state, a.UUID, a.Approve, a.Reason, r.caller)
		}); err != nil {
			return nil, nil, nil, err
		}
	}
	return state, decisions, before, nil
}

// preface returns what is put in front of a message. In a conversation that goes on, the context of
// the client is there already if it was the same.
func (in Input) preface(found history.Found) string {
	text := paragraph(in.Context)
	if found.State == nil {
		return text + in.Past.Context()
	}
	for _, m := range found.State.Messages {
		if m.Role == contract.RoleUser && !m.Notice && text != "" && strings.HasPrefix(m.Content.Inline[:max(0, min(m.Preface, len(m.Content.Inline)))], text) {
			return ""
		}
	}
	return text
}

func paragraph(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}
