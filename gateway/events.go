package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// followEvents streams a conversation as AG-UI events until it is completed. Runs come
// one after the other; a client that lost the stream goes on where it was.
func (g *Gateway) followEvents(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	options, err := eventOptions(c)
	if err != nil {
		return err
	}
	out, err := g.eventsFor(c)
	if err != nil {
		return err
	}
	options.ThreadID = id
	if c.Request().Method == http.MethodHead {
		return g.noEvents(c, id)
	}
	r, err := g.follow(c, id, false)
	if err != nil {
		return err
	}
	defer g.followers.Leave(r)
	f := &follower{Gateway: g, reader: r, out: out, stream: agui.New(options)}
	return f.run(clientOf(c))
}

// eventsFor writes events in the version that the reader names. Without one it is 1.0,
// unlike in a run: whoever reads here has read of it here.
func (g *Gateway) eventsFor(c echo.Context) (*sse, error) {
	out, v := g.newSSE(c, http.StatusOK), c.QueryParam("protocolVersion")
	switch {
	case v != "" && !version.MatchString(v), !understood(v):
		return nil, service.Errorf(contract.KindInvalid, "protocolVersion: expected 1.0, or 0.0 for what is older")
	case v != "" && isLegacy(v):
		out.legacy = agui.NewLegacy(nil)
	}
	return out, nil
}

// eventOptions says where a stream begins. A client that comes back does so by a
// header that outdoes the address.
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

// noEvents answers HEAD.
func (g *Gateway) noEvents(c echo.Context, id string) error {
	if _, err := g.Backend.Conversation(c.Request().Context(), id, ""); err != nil {
		return err
	}
	return g.newSSE(c, http.StatusOK).begin()
}

// follow makes a reader of a conversation that is known to exist by then.
func (g *Gateway) follow(c echo.Context, id string, eager bool) (*live.Reader, error) {
	r, err := g.followers.Join(id, eager)
	if err != nil {
		return nil, closing(err)
	}
	if err := r.Ready(c.Request().Context(), g.base); err != nil {
		g.followers.Leave(r)
		return nil, closing(err)
	}
	return r, nil
}

func closing(err error) error {
	if err == service.ErrClosing {
		return service.Errorf(service.KindUnavailable, "the gateway is shutting down").Because(err)
	}
	return err
}
