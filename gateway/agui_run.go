package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
)

// known is the conversation of a thread as it was when a run was asked for.
type known struct {
	view   contract.ConversationView
	state  *record.State
	exists bool
}

// agent is the AG-UI endpoint: it carries out what a run brings and streams what
// comes of it. A client that goes away stops nothing.
func (g *Gateway) agent(c echo.Context) error {
	in, err := readRun(c)
	if err != nil {
		return err
	}
	id := in.conversationID()
	c.Set(keyConversation, id)
	s, err := g.known(c.Request().Context(), id)
	if err != nil {
		return err
	}
	r := &run{Gateway: g, c: c, id: id, in: in, known: s, messages: in.newMessages(s.userMessages())}
	err = r.serve()
	if inBand(err) && !c.Response().Committed {
		return r.refuse(err)
	}
	return err
}

func (g *Gateway) known(ctx context.Context, id string) (known, error) {
	view, err := g.Backend.Conversation(ctx, id, "")
	if service.IsKind(err, contract.KindNotFound) {
		none := contract.ConversationView{ID: id, Status: contract.StatusActive}
		state, err := record.Load(ctx, g.Blobs, none, nil)
		return known{view: none, state: state}, err
	}
	if err != nil {
		return known{}, err
	}
	state, err := record.Load(ctx, g.Blobs, view, nil)
	return known{view, state, true}, err
}

func (g *Gateway) shown(ctx context.Context, p contract.PendingApproval) (contract.PendingApproval, error) {
	return document.Pending(ctx, g.Blobs, p)
}

// userMessages are the IDs by which the user's messages are known.
func (s known) userMessages() map[string]bool {
	ids := map[string]bool{}
	for _, m := range s.state.Messages {
		if said(m) {
			ids[m.ID], ids[m.Draft] = true, true
		}
	}
	return ids
}

// inBand reports whether a client learns of an error by an event.
func inBand(err error) bool {
	var e *service.Error
	return errors.As(err, &e) && (statuses[e.Kind] == 0 ||
		slices.Contains([]contract.Kind{contract.KindCompleted, contract.KindWaiting, contract.KindDecided, contract.KindKeyReused}, e.Kind))
}

// run is a run that is being served.
type run struct {
	*Gateway
	known
	c         echo.Context
	id        string
	in        runInput
	messages  []inputMessage // that are new
	decisions []decision
	decided   bool // one of them was sent
	reader    *live.Reader
}

// refuse answers a run that did not begin.
func (r *run) refuse(err error) error {
	text, code := broken(err)
	return r.events().send(r.stream(false).Fail(text, code)...)
}

func (r *run) stream(snapshot bool) *agui.Stream {
	o := agui.Options{ThreadID: r.in.ThreadID, RunID: r.in.RunID, State: r.in.State, Snapshot: snapshot}
	if !snapshot {
		held, answers := r.in.held(), r.in.answers()
		o.Known = func(id string) bool { return held[id] }
		o.Answered = func(call string) (string, bool) { text, ok := answers[call]; return text, ok }
	}
	return agui.New(o)
}

// events writes the events of the run as the client knows them.
func (r *run) events() *sse {
	out := r.newSSE(r.c, http.StatusOK)
	if isLegacy(r.in.ProtocolVersion) {
		out.legacy = agui.NewLegacy(r.in.ownCalls())
	}
	return out
}

// serve checks everything before it does anything.
func (r *run) serve() (err error) {
	if len(r.messages) > maxNew {
		return unprocessable("messages: expected %d new ones at most", maxNew)
	}
	if r.decisions, err = r.Gateway.decisions(r.c.Request().Context(), r.in, r.known); err != nil {
		return err
	}
	if r.exists && r.view.Status == contract.StatusCompleted && len(r.messages) > 0 {
		return service.Errorf(contract.KindCompleted, "Conversation is completed.")
	}
	if !r.exists {
		return r.begin()
	}
	if r.reader, err = r.follow(r.c, r.id, true); err != nil {
		return err
	}
	defer r.followers.Leave(r.reader)
	if err := r.decideAll(); err != nil {
		return r.unread(err)
	}
	if err := r.send(r.messages); err != nil {
		return r.unread(err)
	}
	return r.tell()
}

// begin starts the conversation with the first of the messages. Without any, there
// is nothing to tell.
func (r *run) begin() error {
	if len(r.messages) == 0 {
		return r.events().send(r.stream(false).Update(*r.state)...)
	}
	if err := r.startWith(r.messages[0]); err != nil {
		return err
	}
	if err := r.send(r.messages[1:]); err != nil {
		return err
	}
	reader, err := r.follow(r.c, r.id, true)
	if err != nil {
		return err
	}
	r.reader = reader
	defer r.followers.Leave(r.reader)
	return r.tell()
}

// tell streams what comes of the run.
func (r *run) tell() error {
	t, news := r.turn()
	f := &follower{Gateway: r.Gateway, reader: r.reader, out: r.events(), stream: r.stream(!news), turn: t}
	client, cancel := context.WithCancel(clientOf(r.c))
	defer cancel()
	if t.requestID != "" {
		f.settled = r.settlement(client, t.ticket)
	}
	if types := r.in.skipped(r.userMessages()); len(types) > 0 {
		f.notices = []agui.Event{custom("skipped", map[string]any{"parts": types})}
	}
	r.reader.RequestRead()
	return f.run(client)
}

// turn is what the run is about; news is false when it brought nothing.
func (r *run) turn() (t *turn, news bool) {
	t = &turn{least: r.view, inBand: true, approvals: r.approvals()}
	switch n := len(r.messages); {
	case n > 0:
		t.ticket, t.from, t.message = r.ticket(r.messages[n-1]), r.messages[0].ID, r.messages[n-1].ID
	case len(r.decisions) > 0:
		last := r.decisions[len(r.decisions)-1]
		t.ticket = ticket{conversationID: r.id, requestID: last.in.RequestID, endIsFine: true}
		t.anchor = r.lastMessage()
	default:
		return t, false
	}
	return t, true
}

// lastMessage is the ID of the user's last message.
func (s known) lastMessage() string {
	for _, m := range slices.Backward(s.state.Messages) {
		if said(m) {
			return m.ID
		}
	}
	return ""
}
