package talk

import (
	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Send sends what is new. It returns nil if it sends nothing, and sets the notice.
func (r *Run) Send() (*exchange.Exchange, error) {
	if len(r.in.Results)+len(r.in.Answers) > 0 {
		return r.answer()
	}
	if openai.Housekeeping(r.in.Message.Text) && len(r.in.Past) == 0 && len(r.in.Message.Files) == 0 && r.in.Conversation == "" {
		return r.Plain() // the client sends it by itself
	}
	return r.speak()
}

// speak sends the message to the conversation that it continues, or to a new one.
func (r *Run) speak() (*exchange.Exchange, error) {
	found, err := r.find()
	if err != nil {
		return nil, err
	}
	if found.State != nil {
		r.about(found.ID)
	}
	switch {
	case r.command != nil:
		return r.decide(found)
	case found.State == nil:
		return r.start(found)
	case found.Repeated != nil:
		q := r.request(found)
		return r.Exchanges.Join(r.Done, q, q.ID, r.in.Live)
	}
	return r.say(found)
}

// find returns the conversation of the request.
func (r *Run) find() (history.Found, error) {
	query := r.query
	if r.command != nil { // it is no part of the chat
		query.Again, query.Key = false, ""
	}
	if r.in.Conversation == "" {
		if r.in.Fork && !query.Again && query.Key == "" {
			return history.Found{}, nil
		}
		return r.Finder.Find(r.Done, query)
	}
	state, err := r.Exchanges.Service.State(r.Done, r.in.Conversation)
	if err != nil {
		return history.Found{}, err
	}
	return query.Named(state, r.Now()), nil
}

func (r *Run) request(found history.Found) service.Request {
	return service.Request{ConversationID: found.ID, ID: r.query.RequestID(found), Repeatable: true}
}

// message returns the message for a conversation.
func (r *Run) message(found history.Found, q service.Request) service.Message {
	return service.Message{
		Text: r.in.Message.Text, Files: r.in.Message.Files, Preface: r.in.preface(found), ClientID: q.ID,
		Tools: r.in.Tools, ToolChoice: r.in.ToolChoice, Model: r.in.Target.Model, OutputSchema: r.in.Schema, Echo: r.in.Echo,
	}
}

// start starts a new conversation with the message.
func (r *Run) start(found history.Found) (*exchange.Exchange, error) {
	var q service.Request
	id, err := r.Finder.Start(r.Done, r.query, func(id string) (service.StartedConversation, error) {
		found.ID = id
		q = r.request(found)
		q.Fingerprint = r.query.Fingerprint()
		m := r.message(found, q)
		return r.open(service.NewConversation{Request: q, Message: &m, Agent: r.in.Target.Agent})
	})
	if err != nil {
		return nil, err
	}
	r.about(id)
	q.Fingerprint = ""
	return r.Exchanges.Start(r.Done, q, r.in.Live)
}

// open starts a conversation, whose reply may be streamed.
func (r *Run) open(in service.NewConversation) (service.StartedConversation, error) {
	if !r.in.Live {
		return r.Exchanges.Service.Start(r.Done, r.caller, in)
	}
	return r.Exchanges.Followers.Start(r.Done, r.Exchanges.Service, r.caller, in)
}

// say sends the message to its conversation, unless something waits there.
func (r *Run) say(found history.Found) (*exchange.Exchange, error) {
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
	x, err := r.Exchanges.Send(r.Done, r.caller, q, r.message(found, q), found.State, r.in.Live)
	if service.IsKind(err, contract.KindWaiting) { // it has opened since
		state, unread := r.Exchanges.Service.State(r.Done, found.ID)
		if unread != nil {
			return nil, unread
		}
		return nil, r.refuse(exchange.Reply{Waiting: state.Document.PendingApprovals}.Approvals())
	}
	return x, err
}

// Plain has the model alone answer the message, in a conversation that ends with the answer.
func (r *Run) Plain() (*exchange.Exchange, error) {
	id, err := r.Exchanges.Service.NewID(r.Done, r.caller, "")
	if err != nil {
		return nil, err
	}
	q := service.Request{ConversationID: id, ID: contract.NameUUID(id, "plain")}
	m := service.Message{Text: r.in.Message.Text, Preface: paragraph(r.in.Context), ClientID: q.ID}
	if _, err = r.open(service.NewConversation{Request: q, Message: &m, Task: true, Agent: r.Models.Plain(r.in.Target)}); err != nil {
		return nil, err
	}
	r.about(id)
	return r.Exchanges.Start(r.Done, q, r.in.Live)
}
