package endpoint

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Endpoint has the HTTP handlers of AG-UI and of event streams.
type Endpoint struct {
	service   *service.Service
	followers *live.Followers
	agent     contract.Agent
	version   string
	logger    *slog.Logger
}

// Options are the dependencies of an Endpoint.
type Options struct {
	Service   *service.Service
	Followers *live.Followers
	Agent     contract.Agent
	Version   string
	Logger    *slog.Logger
}

func New(o Options) *Endpoint {
	return &Endpoint{service: o.Service, followers: o.Followers, agent: o.Agent, version: o.Version, logger: o.Logger}
}

// Follow streams a conversation as AG-UI events until it is completed, one run after the
// other. A client that lost the stream resumes with the ID of its last event.
func (ep *Endpoint) Follow(c echo.Context) error {
	id := c.Param("id")
	if !contract.IsUUID(id) {
		return service.NoConversation(id)
	}
	callOf(c).ConversationID = id
	options, err := eventOptions(c)
	if err != nil {
		return err
	}
	legacy, err := legacyFor(c)
	if err != nil {
		return err
	}
	options.ThreadID = id
	out := ep.newWriter(c, http.StatusOK, legacy)
	if c.Request().Method == http.MethodHead {
		return ep.showHead(c, id, out)
	}
	r, err := ep.join(c, id, false)
	if err != nil {
		return err
	}
	defer ep.followers.Leave(r)
	f := &follower{endpoint: ep, reader: r, out: out, stream: agui.New(options)}
	return f.run(callOf(c).Client)
}

func callOf(c echo.Context) *request.Call { return request.From(c.Request().Context()) }

// legacyFor returns a rewriter for a reader that names an old version. Unlike in a run, no
// version means 1.0.
func legacyFor(c echo.Context) (*agui.Legacy, error) {
	v := c.QueryParam("protocolVersion")
	switch {
	case v != "" && !version.MatchString(v), !supported(v):
		return nil, service.Errorf(contract.KindInvalid, "protocolVersion: expected 1.0, or 0.0 for what is older")
	case v != "" && isLegacy(v):
		return agui.NewLegacy(nil), nil
	}
	return nil, nil
}

// eventOptions returns where a stream begins. The header Last-Event-ID, which clients send
// when they reconnect, takes precedence over the query.
func eventOptions(c echo.Context) (agui.Options, error) {
	after := c.Request().Header.Get("Last-Event-ID")
	if after == "" {
		after = c.QueryParam("after")
	}
	snapshot := c.QueryParam("snapshot")
	if snapshot != "" && snapshot != "true" && snapshot != "false" {
		return agui.Options{}, service.Errorf(contract.KindInvalid, "snapshot: expected true or false")
	}
	if after == "" {
		return agui.Options{Snapshot: snapshot != "false"}, nil
	}
	position, err := agui.ParsePosition(after)
	if err != nil {
		return agui.Options{}, service.Errorf(contract.KindInvalid, "%q is not the id of an event", service.Printable(after))
	}
	return agui.Options{After: position}, nil
}

// showHead answers HEAD.
func (ep *Endpoint) showHead(c echo.Context, id string, out *writer) error {
	if _, err := ep.service.Conversation(c.Request().Context(), id, ""); err != nil {
		return err
	}
	return out.Begin()
}

// join returns a reader of a conversation that exists and has been read.
func (ep *Endpoint) join(c echo.Context, id string, eager bool) (*live.Reader, error) {
	r, err := ep.followers.Join(c.Request().Context(), id, eager)
	if err != nil {
		return nil, closingError(err)
	}
	if err := r.Ready(c.Request().Context(), ep.service.Closing()); err != nil {
		ep.followers.Leave(r)
		return nil, closingError(err)
	}
	return r, nil
}

// closingError replaces ErrClosing by an error for the client.
func closingError(err error) error {
	if errors.Is(err, service.ErrClosing) {
		return service.Errorf(service.KindUnavailable, "the gateway is shutting down").Because(err)
	}
	return err
}
