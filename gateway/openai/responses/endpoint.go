package responses

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Endpoint has the HTTP handlers.
type Endpoint struct {
	Talk *talk.Talk
	// Status returns the HTTP status of an error, and its body.
	Status func(error, *http.Request) (int, openai.Error)
	Logger *slog.Logger
	// Socket is what WebSockets need.
	Socket Socket
}

// headerApprovals has the value mcp if approvals are to be items though the client declares no mcp
// tool.
const headerApprovals = "X-Approvals"

// run is a request for a response.
type run struct {
	*Endpoint
	http     *http.Request
	talk     *talk.Run
	asks     asks
	response resource
	// quiet: the text comes at the end, because the client has asked for JSON.
	quiet bool
}

// Create creates a response.
func (ep *Endpoint) Create(c echo.Context) error {
	var b body
	if err := request.Read(c.Request(), &b); err != nil {
		return err
	}
	r, x, err := ep.start(c.Request(), c.Response().Header(), b)
	if err != nil {
		return err
	}
	if x != nil {
		defer x.Close()
	}
	switch {
	case b.Stream:
		return r.send(c, x, -1)
	case b.Background && x != nil:
		return c.JSON(http.StatusOK, r.response)
	}
	if err := r.await(x); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, r.response)
}

// start sends what a request has. The exchange is nil if nothing was sent; the response then says why. header is that
// of the reply.
func (ep *Endpoint) start(q *http.Request, header http.Header, b body) (*run, *exchange.Exchange, error) {
	in, err := b.read(ep.Talk.Models)
	if err != nil {
		return nil, nil, err
	}
	if err := ep.place(q, b, &in); err != nil {
		return nil, nil, err
	}
	r := &run{Endpoint: ep, http: q, response: b.template(in.Target.Name), asks: asksOf(q, b.labels()), quiet: in.Schema != nil}
	if r.response.Store {
		if in.Echo, err = r.kept(b.settings, in).encode(); err != nil {
			return nil, nil, err
		}
	}
	if r.talk, err = ep.Talk.Begin(q, header, in); err != nil {
		return nil, nil, err
	}
	r.response.CreatedAt = ep.Talk.Now().Unix()
	x, err := r.talk.Send()
	switch {
	case err != nil:
		return nil, nil, err
	case x == nil:
		r.notice(header.Get(openai.HeaderConversation))
	default:
		r.about(x)
	}
	return r, x, nil
}

// kept returns what the record is to have of the request.
func (r *run) kept(s settings, in talk.Input) kept {
	k := kept{settings: s, AllApprovals: r.asks.all, Answers: in.Answered()}
	if len(k.Answers) == 1 && !in.Says() {
		k.Answers = nil // it is that of the entry
	}
	if name := r.response.Model; name != r.Talk.Models.Agent.Name {
		k.Model = name
	}
	return k
}

// await completes the response by the reply of the agent, when that is there.
func (r *run) await(x *exchange.Exchange) error {
	if x == nil {
		return nil
	}
	reply, err := x.Wait(r.talk.Done)
	if err != nil {
		return err
	}
	return r.finish(reply)
}

func asksOf(q *http.Request, labels map[string]bool) asks {
	return asks{labels: labels, all: strings.EqualFold(q.Header.Get(headerApprovals), "mcp")}
}

// about gives the response its ID, and names the conversation.
func (r *run) about(x *exchange.Exchange) {
	r.response.ID = responseID(x.Request(), r.form())
	r.response.Conversation = &conversation{prefixConversation + compact(x.ConversationID())}
}

// form returns the form of the response, for its ID.
func (r *run) form() (form string) {
	if r.asks.all || len(r.asks.labels) > 0 {
		form = formApprovals
	}
	if r.quiet {
		form += formAnswer
	}
	if !r.response.Store {
		form += formUnstored
	}
	if r.response.Truncation == truncationOff {
		form += formWhole
	}
	return form
}

// place finds out in which conversation the request goes on, if it names one. What follows a response
// that was followed already begins a new one, with what was said before as context.
func (ep *Endpoint) place(q *http.Request, b body, in *talk.Input) error {
	named, previous, err := b.names()
	if err != nil {
		return err
	}
	if in.Conversation = named; named == "" {
		in.Conversation = openai.Conversation(q)
	}
	if previous != nil {
		err := ep.after(q, *previous, in)
		return previousMissing(previousGone(err, *b.PreviousResponseID))
	}
	if referred, ok := b.Input.reference(); ok && in.Conversation == "" {
		if err := ep.after(q, referred, in); !service.IsKind(err, contract.KindNotFound) {
			return err
		}
	}
	return nil
}

// after has a request go on behind a response.
func (ep *Endpoint) after(q *http.Request, previous service.Request, in *talk.Input) error {
	state, err := ep.Talk.Exchanges.Service.State(q.Context(), previous.ConversationID)
	if err != nil {
		return err
	}
	chat, last, ok := upTo(state, previous.ID)
	switch {
	case !ok:
		return noResponse(previous.ID)
	case last || len(in.Results)+len(in.Answers) > 0:
		in.Conversation = state.View.ID
	default:
		in.Conversation, in.Fork, in.Past = "", true, chat
	}
	return nil
}

func previousGone(err error, id string) error {
	if service.IsKind(err, contract.KindNotFound) {
		return noResponse(id)
	}
	return err
}

// upTo returns what was said up to the end of a response, and whether nothing was said after it.
func upTo(s *record.State, requestID string) (chat history.Chat, last, ok bool) {
	entries := s.Entries()
	end := len(entries)
	for i, e := range entries {
		begins := e.Kind == record.KindMessage || e.Kind == record.KindDecision
		switch {
		case begins && (e.Kind == record.KindMessage && e.ClientID() == requestID || e.Approval != nil && e.Approval.RequestID == requestID):
			ok, end = true, len(entries)
		case ok && e.Kind == record.KindMessage && end == len(entries):
			end = i
		}
	}
	return history.Of(entries[:end]), end == len(entries), ok
}

// notice completes the response by what the gateway says instead of sending the message to a conversation, because
// something waits there.
func (r *run) notice(id string) {
	r.response.ID = prefixResponse + compact(contract.NameUUID(id, r.talk.Notice))
	r.response.Status, r.response.Usage = statusCompleted, usageOf(contract.Usage{})
	at := r.Talk.Now().Unix()
	r.response.CompletedAt = &at
	r.response.Conversation = &conversation{prefixConversation + compact(id)}
	r.response.Output = []output{message(messageID(r.response.ID), r.talk.Notice)}
}

// finish completes the response by the reply of the agent.
func (r *run) finish(reply exchange.Reply) error {
	text := reply.Text
	if r.quiet && reply.Response != "" {
		text = reply.Response
	}
	return r.complete(reply, text)
}

func (r *run) complete(reply exchange.Reply, text string) error {
	o := &r.response
	o.Output = []output{}
	if text != "" {
		o.Output = append(o.Output, message(messageID(o.ID), text))
	}
	items, others := r.asks.rest(o.ID, reply)
	o.Output = append(o.Output, items...)
	cards, err := r.talk.Cards(others)
	if err != nil {
		return err
	}
	if cards != "" {
		o.Output = append(o.Output, message(cardID(o.ID), cards))
	}
	o.Status, o.Usage = statusCompleted, usageOf(reply.Usage)
	switch {
	case reply.Outcome == contract.OutcomeCancelled:
		o.Status = statusCancelled
	case reply.Outcome == contract.OutcomeFailed:
		o.Status, o.Error = statusFailed, &failure{"server_error", reply.Response}
	case o.Truncation == truncationOff && slices.ContainsFunc(reply.Entries, record.Entry.Shortened):
		o.Status, o.Error = statusFailed, &failure{"context_length_exceeded", "the conversation is longer than the model's window, and truncation is disabled: the model did not see all of it"}
	case reply.CutOff() && text != "" && len(o.Output) == 1:
		o.Status, o.Output[0].Status, o.IncompleteDetails = statusIncomplete, statusIncomplete, &incompleteDetails{"max_output_tokens"}
	}
	if o.Status == statusCompleted {
		at := r.Talk.Now().Unix()
		o.CompletedAt = &at
	}
	r.talk.Remember(reply, strings.TrimSpace(text+"\n\n"+cards))
	return nil
}
