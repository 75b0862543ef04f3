package endpoint

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/turn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Run serves the AG-UI endpoint: it carries out a run and streams the result. A client that
// disconnects stops nothing.
func (ep *Endpoint) Run(c echo.Context) error {
	in, err := readRun(c)
	if err != nil {
		return err
	}
	t, err := ep.threadOf(c.Request().Context(), callOf(c).Caller, in.ThreadID)
	if service.IsKind(err, deletion.KindDeleted) {
		return (&run{endpoint: ep, c: c, in: in}).refuse(err)
	}
	if err != nil {
		return err
	}
	callOf(c).ConversationID = t.view.ID
	r := &run{endpoint: ep, c: c, id: t.view.ID, in: in, thread: t, messages: in.newMessages(t.userMessages())}
	err = r.serve()
	if inBand(err) && !c.Response().Committed {
		return r.refuse(err)
	}
	return err
}

// inBandKinds are the error kinds that are sent as an event.
var inBandKinds = []contract.Kind{
	contract.KindCompleted, deletion.KindDeleted, contract.KindWaiting, contract.KindDecided, contract.KindKeyReused,
	KindInterruptUnknown, KindInterruptDuplicate, KindInterruptUnresolved, KindInterruptResolved, KindResumeInvalid,
}

// inBand reports whether an error is sent as an event.
func inBand(err error) bool {
	var e *service.Error
	return errors.As(err, &e) && slices.Contains(inBandKinds, e.Kind)
}

// run is the state of one run.
type run struct {
	endpoint  *Endpoint
	c         echo.Context
	id        string
	in        runInput
	thread    thread
	messages  []inputMessage // the new ones
	decisions []decision
	decided   bool // a decision was sent
	reader    *live.Reader
}

func (r *run) ctx() context.Context { return r.c.Request().Context() }

// refuse answers a run that was not carried out with a RUN_ERROR.
func (r *run) refuse(err error) error {
	text, code := clientError(err)
	return r.events().send(r.stream(false).Fail(text, code)...)
}

func (r *run) stream(snapshot bool) *agui.Stream {
	o := agui.Options{ThreadID: r.in.ThreadID, RunID: r.in.RunID, State: r.in.State, Snapshot: snapshot}
	if !snapshot {
		held, results := r.in.heldIDs(), r.in.results()
		o.Known = func(id string) bool { return held[id] }
		o.ClientResult = func(call string) (string, bool) { text, ok := results[call]; return text, ok }
	}
	return agui.New(o)
}

// events returns a writer of events for the client's version.
func (r *run) events() *writer {
	var legacy *agui.Legacy
	if isLegacy(r.in.ProtocolVersion) {
		legacy = agui.NewLegacy(r.in.ownCalls())
	}
	return r.endpoint.newWriter(r.c, http.StatusOK, legacy)
}

// serve checks everything before it carries out anything.
func (r *run) serve() (err error) {
	if len(r.messages) > maxNew {
		return unprocessable("messages: expected %d new ones at most", maxNew)
	}
	if r.decisions, err = r.endpoint.decisions(r.ctx(), r.in, r.thread); err != nil {
		return err
	}
	if r.thread.exists && r.thread.view.Status == contract.StatusCompleted && len(r.messages) > 0 {
		return service.Errorf(contract.KindCompleted, "Conversation is completed.")
	}
	if !r.thread.exists {
		return r.startConversation()
	}
	if r.reader, err = r.endpoint.join(r.c, r.id, true); err != nil {
		return err
	}
	defer r.endpoint.followers.Leave(r.reader)
	if err := r.decideAll(); err != nil {
		return r.explainDecided(err)
	}
	if err := r.send(r.messages); err != nil {
		return r.explainDecided(err)
	}
	return r.follow()
}

// startConversation starts the conversation with the first message. A run without messages
// for an unknown thread gets an empty stream.
func (r *run) startConversation() error {
	if len(r.messages) == 0 {
		f := &follower{endpoint: r.endpoint, out: r.events(), notices: r.notices()}
		return f.send(r.stream(false).Update(*r.thread.state))
	}
	if err := r.start(r.messages[0]); err != nil {
		return err
	}
	if err := r.send(r.messages[1:]); err != nil {
		return err
	}
	reader, err := r.endpoint.join(r.c, r.id, true)
	if err != nil {
		return err
	}
	r.reader = reader
	defer r.endpoint.followers.Leave(r.reader)
	return r.follow()
}

// follow streams the result of the run.
func (r *run) follow() error {
	t, isNew := r.turn()
	f := &follower{endpoint: r.endpoint, reader: r.reader, out: r.events(), stream: r.stream(!isNew), turn: t, inBand: true, notices: r.notices()}
	client, cancel := context.WithCancel(callOf(r.c).Client)
	defer cancel()
	if t.ID != "" {
		f.answer = r.endpoint.service.AwaitAsync(client, t.Request)
	}
	r.reader.ExpectChange()
	return f.run(client)
}

// notices names the parts of messages that were left out, if any.
func (r *run) notices() []agui.Event {
	types := r.in.skipped(r.thread.userMessages())
	if len(types) == 0 {
		return nil
	}
	return []agui.Event{custom(agui.CustomSkipped, map[string]any{"parts": types})}
}

// turn returns the turn of the run; isNew is false if the run brought nothing new.
func (r *run) turn() (t *turn.Turn, isNew bool) {
	t = &turn.Turn{Latest: r.thread.view, Approvals: r.approvals()}
	switch n := len(r.messages); {
	case n > 0:
		t.Request, t.From, t.Message = r.request(r.messages[n-1]), r.messages[0].ID, r.messages[n-1].ID
	case len(r.decisions) > 0:
		last := r.decisions[len(r.decisions)-1]
		t.Request = service.Request{ConversationID: r.id, ID: last.in.RequestID, MayBeCompleted: true}
		t.Anchor = r.thread.lastMessage()
	default:
		return t, false
	}
	return t, true
}
