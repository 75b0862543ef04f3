package chat

import (
	"cmp"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// send sends what is new. It returns nil if it sends nothing, and sets the notice.
func (r *run) send() (*exchange.Exchange, error) {
	if len(r.in.results) > 0 {
		return r.giveResults()
	}
	if openai.Housekeeping(r.in.message.Text) && len(r.in.past) == 0 && len(r.in.message.Files) == 0 {
		return r.plain()
	}
	found, err := r.find()
	if err != nil {
		return nil, err
	}
	if found.State != nil {
		r.about(found.ID)
	}
	command, decides := passcode.Parse(r.in.message.Text)
	switch {
	case decides:
		return r.decide(found, command)
	case found.State == nil:
		return r.start(found)
	case found.Repeated != nil:
		q := r.request(found)
		return r.Exchanges.Join(r.ctx, q, q.ID, r.in.Stream)
	}
	return r.say(found)
}

// find returns the conversation of the request.
func (r *run) find() (history.Found, error) {
	query := r.query
	if _, decides := passcode.Parse(query.Text); decides { // it is no part of the chat
		query.Again, query.Key = false, ""
	}
	id := openai.Conversation(r.c.Request())
	if id == "" {
		return r.Finder.Find(r.ctx, query)
	}
	view, err := r.Exchanges.Service.Conversation(r.ctx, id, "")
	if err != nil {
		return history.Found{}, err
	}
	state, err := r.Exchanges.Service.Record(r.ctx, view)
	if err != nil {
		return history.Found{}, err
	}
	return query.Named(state, r.Now()), nil
}

func (r *run) request(found history.Found) service.Request {
	return service.Request{ConversationID: found.ID, ID: r.query.RequestID(found), Repeatable: true}
}

// newMessage returns the message for a conversation.
func (r *run) newMessage(found history.Found, q service.Request) service.Message {
	return service.Message{
		Text: r.in.message.Text, Files: r.in.message.Files, Preface: r.in.preface(found), ClientID: q.ID,
		Tools: r.in.tools, Model: r.in.target.Model, OutputSchema: r.in.schema,
	}
}

// start starts a new conversation with the message.
func (r *run) start(found history.Found) (*exchange.Exchange, error) {
	var q service.Request
	id, err := r.Finder.Start(r.ctx, r.query, func(id string) (service.StartedConversation, error) {
		found.ID = id
		q = r.request(found)
		q.Fingerprint = r.query.Fingerprint()
		m := r.newMessage(found, q)
		return r.Exchanges.Service.Start(r.ctx, r.caller, service.NewConversation{Request: q, Message: &m, Agent: r.in.target.Agent})
	})
	if err != nil {
		return nil, err
	}
	r.about(id)
	q.Fingerprint = ""
	return r.Exchanges.Start(r.ctx, q, r.in.Stream)
}

// say sends the message to its conversation, unless something waits there.
func (r *run) say(found history.Found) (*exchange.Exchange, error) {
	waiting := exchange.Reply{Waiting: found.State.Document.PendingApprovals}
	for _, p := range waiting.Approvals() {
		if !p.Question() {
			return nil, r.refuse(waiting.Approvals())
		}
	}
	if calls := waiting.Calls(); len(calls) > 0 {
		if err := r.decline(found.State, calls); err != nil {
			return nil, err
		}
	}
	q := r.request(found)
	x, err := r.Exchanges.Send(r.ctx, r.caller, q, r.newMessage(found, q), found.State, r.in.Stream)
	if service.IsKind(err, contract.KindWaiting) { // it has opened since
		view, unread := r.Exchanges.Service.Conversation(r.ctx, found.ID, "")
		if unread != nil {
			return nil, unread
		}
		state, unread := r.Exchanges.Service.Record(r.ctx, view)
		if unread != nil {
			return nil, unread
		}
		return nil, r.refuse(exchange.Reply{Waiting: state.Document.PendingApprovals}.Approvals())
	}
	return x, err
}

// refuse makes the notice that the message was not sent because of what waits.
func (r *run) refuse(waiting []contract.PendingApproval) error {
	if len(waiting) == 0 {
		return refused()
	}
	cards, err := r.Desk.Cards(waiting, r.query.Caller, r.c.Request())
	r.notice = history.Unsent + ", because this waits for a decision first.\n\n" + cards
	return err
}

// declined is the reason for calls that the client does not execute.
const declined = "the client went on without a result"

// decline gives up calls of the client's functions for which it brings no result.
func (r *run) decline(state *record.State, calls []contract.PendingApproval) error {
	var decisions []service.Decision
	for _, p := range calls {
		decisions = append(decisions, service.Decision{UUID: p.UUID, Signal: contract.DecideSignal{
			Reason: declined, Via: openai.ViaCode, RequestID: contract.NameUUID(p.UUID, declined),
		}})
	}
	x, err := r.Exchanges.Decide(r.ctx, r.caller, state, decisions, true)
	if err != nil {
		return err
	}
	defer x.Close()
	return x.Settle(r.c.Request().Context())
}

// decide carries out a decision by code.
func (r *run) decide(found history.Found, command passcode.Command) (*exchange.Exchange, error) {
	if found.State == nil {
		return nil, invalid("that code does not hold here: no conversation goes on with this chat. Nothing was decided")
	}
	d, err := r.Desk.Decision(r.in.message.Text, found.State.Document.PendingApprovals, r.query.Caller, r.c.Request())
	if err != nil {
		if before := openai.DecidedBy(found.State, command); before != nil && (r.query.Again || r.query.Key != "") {
			return r.Exchanges.JoinDecision(r.ctx, found.State, *before, r.in.Stream)
		}
		return nil, err
	}
	return r.Exchanges.Decide(r.ctx, r.caller, found.State, []service.Decision{*d}, r.in.Stream)
}

// giveResults sends the results of calls that the client has executed.
func (r *run) giveResults() (*exchange.Exchange, error) {
	var state *record.State
	var decisions []service.Decision
	var known *contract.ApprovalResult
	for _, m := range r.in.results {
		uuid, ok := openai.ApprovalOfCall(m.ToolCallID)
		if !ok {
			return nil, invalid("tool_call_id %s is not one of this agent", service.Printable(m.ToolCallID))
		}
		if state == nil {
			var err error
			if state, err = openai.StateOfCall(r.ctx, r.Exchanges.Service, uuid); err != nil {
				return nil, err
			}
			r.about(state.View.ID)
		}
		content, err := m.Content.Read()
		if err != nil {
			return nil, err
		}
		d, done, err := openai.Result(state, uuid, content.Text)
		switch {
		case err != nil:
			return nil, err
		case done != nil:
			known = done
			continue
		}
		decisions = append(decisions, d)
	}
	if len(decisions) == 0 {
		return r.Exchanges.JoinDecision(r.ctx, state, *known, r.in.Stream)
	}
	return r.Exchanges.Decide(r.ctx, r.caller, state, decisions, r.in.Stream)
}

// plain has the model alone answer a request that the client sends by itself, in a conversation that
// ends with the answer.
func (r *run) plain() (*exchange.Exchange, error) {
	id, err := r.Exchanges.Service.NewID(r.ctx, r.caller, "")
	if err != nil {
		return nil, err
	}
	q := service.Request{ConversationID: id, ID: contract.NameUUID(id, "plain")}
	m := service.Message{Text: r.in.message.Text, Preface: end(r.in.context), ClientID: q.ID}
	_, err = r.Exchanges.Service.Start(r.ctx, r.caller, service.NewConversation{Request: q, Message: &m, Task: true, Agent: r.Models.Plain(r.in.target)})
	if err != nil {
		return nil, err
	}
	return r.Exchanges.Start(r.ctx, q, r.in.Stream)
}

// arguments returns the arguments of a call as OpenAI has them: JSON in a string.
func arguments(p contract.PendingApproval) string {
	return cmp.Or(string(p.ToolArgs.Raw), "{}")
}
