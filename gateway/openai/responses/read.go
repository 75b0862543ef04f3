package responses

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// stored is a response that was created before.
type stored struct {
	request service.Request
	id      string
	form    string
	state   *record.State
	settled bool
	// entry is the message or the decision that the response answers.
	entry record.Entry
}

// load reads a response.
// anyway: also one that is not stored.
func (ep *Endpoint) load(c echo.Context, anyway bool) (stored, error) {
	id := c.Param("response")
	q, form, err := parseResponse(id)
	if err == nil && strings.Contains(form, formUnstored) && !anyway {
		err = noResponse(id)
	}
	if err != nil {
		return stored{}, err
	}
	ctx := c.Request().Context()
	view, err := ep.Talk.Exchanges.Service.Conversation(ctx, q.ConversationID, q.ID)
	if err != nil {
		return stored{}, previousGone(err, id)
	}
	request.From(ctx).ConversationID = q.ConversationID
	state, err := ep.Talk.Exchanges.Service.Record(ctx, view)
	if err != nil {
		return stored{}, err
	}
	s := stored{request: q, id: id, form: form, state: state, settled: view.Request == nil || view.Request.Settled}
	for _, e := range state.Entries() {
		if e.Kind == record.KindMessage && e.ClientID() == q.ID || e.Approval != nil && e.Approval.RequestID == q.ID {
			s.entry = e
		}
	}
	if s.entry.Kind == 0 && s.settled {
		return s, noResponse(id)
	}
	return s, nil
}

// resume returns the exchange of a response.
func (ep *Endpoint) resume(c echo.Context, s stored, live bool) (*exchange.Exchange, error) {
	done := request.From(c.Request().Context()).Client
	if s.entry.Approval != nil {
		return ep.Talk.Exchanges.JoinDecision(done, s.state, *s.entry.Approval, live)
	}
	return ep.Talk.Exchanges.Join(done, s.request, s.request.ID, live)
}

// again returns the run of a response that was created before.
func (ep *Endpoint) again(c echo.Context, s stored) (*run, error) {
	k, err := ep.kept(c, s)
	if err != nil {
		return nil, err
	}
	b := body{settings: k.settings}
	r := &run{
		Endpoint: ep, http: c.Request(), response: b.template(cmp.Or(k.Model, ep.Talk.Models.Agent.Name)), quiet: strings.Contains(s.form, formAnswer),
		asks: asks{labels: b.labels(), all: strings.Contains(s.form, formApprovals) && (k.AllApprovals || len(b.labels()) == 0)},
	}
	r.response.Store = !strings.Contains(s.form, formUnstored)
	if strings.Contains(s.form, formWhole) {
		r.response.Truncation = truncationOff
	}
	if r.talk, err = ep.Talk.Begin(c.Request(), c.Response().Header(), talk.Input{}); err != nil {
		return nil, err
	}
	r.response.ID = s.id
	r.response.Conversation = &conversation{prefixConversation + compact(s.request.ConversationID)}
	r.response.CreatedAt = s.created().Unix()
	return r, nil
}

// kept returns what the record has of the request. Of one whose turn has not begun it is not known.
func (ep *Endpoint) kept(c echo.Context, s stored) (kept, error) {
	of := s.entry.Echo
	if s.entry.Approval != nil {
		of = s.entry.Approval.Echo
	}
	raw, err := ep.Talk.Exchanges.Service.Echo(c.Request().Context(), of)
	if err != nil {
		return kept{}, err
	}
	return decodeKept(raw)
}

func (s stored) created() time.Time {
	if s.entry.Kind == 0 {
		return s.state.View.UpdatedAt
	}
	return s.entry.CreatedAt
}

// Show replies with a response, or goes on with its stream.
func (ep *Endpoint) Show(c echo.Context) error {
	s, err := ep.load(c, false)
	if err != nil {
		return err
	}
	streams := c.QueryParam("stream") == "true"
	after, err := afterOf(c)
	if err != nil {
		return err
	}
	return ep.show(c, s, streams, after)
}

func (ep *Endpoint) show(c echo.Context, s stored, streams bool, after int64) error {
	r, err := ep.again(c, s)
	if err != nil {
		return err
	}
	if !s.settled && !streams {
		return c.JSON(http.StatusOK, r.response)
	}
	x, err := ep.resume(c, s, streams)
	if err != nil {
		return err
	}
	defer x.Close()
	if streams {
		return r.send(c, x, after)
	}
	if err := r.await(x); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, r.response)
}

// afterOf returns the number of the event behind which a stream goes on, -1 for all of it.
func afterOf(c echo.Context) (int64, error) {
	text := c.QueryParam("starting_after")
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid("starting_after: expected the sequence_number of an event")
	}
	return n, nil
}

// Cancel stops the turn of a response that is not complete.
func (ep *Endpoint) Cancel(c echo.Context) error {
	s, err := ep.load(c, true)
	if err != nil {
		return err
	}
	if s.settled {
		return ep.show(c, s, false, -1)
	}
	call := request.From(c.Request().Context())
	q := service.Request{ConversationID: s.request.ConversationID, ID: contract.NameUUID(s.request.ID, "cancel"), Repeatable: true, MayBeCompleted: true}
	known, err := ep.Talk.Exchanges.Service.CancelTurn(c.Request().Context(), call.Caller, q, service.Note{Reason: "the response was cancelled"})
	if err == nil {
		err = known.Refusal()
	}
	if err != nil {
		return err
	}
	if known == nil {
		if _, err := ep.Talk.Exchanges.Service.Await(c.Request().Context(), q); err != nil {
			return err
		}
	}
	if s, err = ep.load(c, true); err != nil {
		return err
	}
	return ep.show(c, s, false, -1)
}
