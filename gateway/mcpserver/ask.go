package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// arguments are those of a call.
type arguments struct {
	message, conversation string
	key                   hosting.CallKey
}

func argumentsOf(r mcp.CallToolRequest) (in arguments, err error) {
	all, err := hosting.ParseArguments(r, "message", "conversation")
	if err == nil {
		in.message, err = all.Text("message", "")
	}
	if err == nil {
		in.conversation, err = all.Text("conversation", "")
	}
	if err == nil {
		in.key, err = hosting.ParseCallKey(r, all)
	}
	switch {
	case err != nil:
		return in, service.Errorf(contract.KindInvalid, "%w", err)
	case in.message == "" && in.conversation == "":
		return in, service.Errorf(contract.KindInvalid, "message: expected one, or the conversation to wait for")
	case in.conversation != "" && !contract.IsUUID(in.conversation):
		return in, service.NoConversation(in.conversation)
	}
	return in, nil
}

// ask is a call that is carried out.
type ask struct {
	*Server
	ctx     context.Context
	call    *request.Call
	target  offers.Target
	running *running
	mcp     *server.MCPServer
	session server.ClientSession
	// id is the conversation, as soon as it is known.
	id string
	// asks: approvals may be asked for. round counts how often they were.
	asks  bool
	round int
}

// tool returns the handler of a tool. Errors for callers are results, which the model of the client
// reads.
func (s *Server) tool(t offers.Target) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		call := request.From(ctx)
		if call.Caller.Authenticated() && !call.Caller.Identity.May(contract.ScopeConverse) {
			return failed(service.Errorf(contract.KindForbidden, "this needs the scope %s", contract.ScopeConverse), ""), nil
		}
		a := &ask{Server: s, ctx: ctx, call: call, target: t, mcp: server.ServerFromContext(ctx), session: server.ClientSessionFromContext(ctx), asks: true}
		a.running = s.calls.begin(ctx)
		reply, err := a.run(r)
		if ctx.Err() == nil {
			call.ConversationID = a.id
		}
		if err != nil {
			a.end()
			return failed(err, a.id), nil
		}
		question, err := a.elicitation(reply)
		if question != nil {
			return question, nil
		}
		a.end()
		if err != nil {
			return failed(err, a.id), nil
		}
		return result(reply, a.call.Caller), nil
	}
}

// end forgets the call, unless its connection is lost: then it may still be cancelled.
func (a *ask) end() {
	if a.ctx.Err() == nil {
		a.calls.end(a.ctx)
	}
}

// run sends what the client has sent: a message, or answers to what it was asked.
func (a *ask) run(r mcp.CallToolRequest) (exchange.Reply, error) {
	var x *exchange.Exchange
	var err error
	if r.Params.RequestState != "" {
		x, err = a.resume(r.Params.MultiRoundTripParams)
	} else {
		x, err = a.begin(r)
	}
	if err != nil {
		return exchange.Reply{}, err
	}
	defer x.Close()
	a.sent(x.Request())
	return x.Follow(a.ctx, a.progress(r))
}

// sent says that the call can be cancelled from now on, also if its connection is lost at once.
func (a *ask) sent(q service.Request) {
	a.running.started(func(reason string) { a.cancel(q, reason) })
}

// begin sends the message to its conversation.
func (a *ask) begin(r mcp.CallToolRequest) (*exchange.Exchange, error) {
	in, err := argumentsOf(r)
	if err != nil {
		return nil, err
	}
	if in.conversation == "" {
		return a.start(in)
	}
	state, err := a.state(in.conversation)
	if err != nil {
		return nil, err
	}
	if in.message == "" {
		return a.again(state)
	}
	for _, p := range state.Document.PendingApprovals {
		if !p.Question() && p.Reason != contract.ReasonClientTool {
			return nil, service.Errorf(contract.KindWaiting, "the message was not sent, because an approval waits for a decision first: call without a message to see it")
		}
	}
	q := a.request(state.View.ID, in)
	return a.Exchanges.Send(a.ctx, a.call.Caller, q, service.Message{Text: in.message, ClientID: q.ID, Model: a.target.Model}, state, true)
}

// start starts a conversation with the message.
func (a *ask) start(in arguments) (*exchange.Exchange, error) {
	key := in.key.Key
	if key != "" {
		key = "mcp " + key
	}
	id, err := a.Exchanges.Service.NewID(a.ctx, a.call.Caller, key)
	if err != nil {
		return nil, err
	}
	q := a.request(id, in)
	m := service.Message{Text: in.message, ClientID: q.ID, Model: a.target.Model}
	started, err := a.Exchanges.Followers.Start(a.ctx, a.Exchanges.Service, a.call.Caller, service.NewConversation{Request: q, Message: &m, Agent: a.target.Agent})
	if err != nil {
		return nil, err
	}
	if started.Existed && started.Fingerprint != q.Fingerprint {
		return nil, service.Errorf(contract.KindKeyReused, "the idempotency key was used for another call")
	}
	a.id, q.Fingerprint = id, ""
	a.sent(q)
	return a.Exchanges.Start(a.ctx, q, true)
}

// request returns the request with a message: the same one for a call that is sent again.
func (a *ask) request(id string, in arguments) service.Request {
	q := service.Request{ConversationID: id, ID: a.call.Caller.RequestID(id, "mcp", in.key.Key), Repeatable: in.key.Key != ""}
	if q.Repeatable {
		q.Fingerprint = contract.Hash([]byte(in.key.ArgsSHA256 + " " + a.target.Node))[:16]
	}
	return q
}

// state reads a conversation.
func (a *ask) state(id string) (*record.State, error) {
	state, err := a.Exchanges.Service.State(a.ctx, id)
	if err == nil {
		a.id = id
	}
	return state, err
}

// again returns the exchange of what a conversation has come to: that of its last message, or of the
// last decision.
func (a *ask) again(state *record.State) (*exchange.Exchange, error) {
	entries := state.Entries()
	for n := len(entries) - 1; n >= 0; n-- {
		switch e := entries[n]; {
		case e.Approval != nil && e.Approval.RequestID != "":
			return a.Exchanges.JoinDecision(a.ctx, state, *e.Approval, true)
		case e.Kind == record.KindMessage && e.ClientID() != "":
			q := service.Request{ConversationID: state.View.ID, ID: e.ClientID(), Repeatable: true, MayBeCompleted: true}
			return a.Exchanges.Join(a.ctx, q, e.ClientID(), true)
		}
	}
	return nil, service.Errorf(contract.KindInvalid, "message: expected one; nothing was said in that conversation")
}
