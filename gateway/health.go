package gateway

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/workflows/contract"
)

type healthReply struct {
	Status string `json:"status"`
}

// health says that the process lives, and asks nobody.
func (g *Gateway) health(c echo.Context) error {
	return c.JSON(http.StatusOK, healthReply{"ok"})
}

type readyReply struct {
	Status string `json:"status"` // ok or unavailable
	// Problems says why the status is not ok.
	Problems []string `json:"problems"`
	// Notes are of servers that are ready for some callers only.
	Notes   []string               `json:"notes,omitempty"`
	Servers []contract.ServerState `json:"servers"`
	Version string                 `json:"version,omitempty"`
}

const readyTimeout = 12 * time.Second

// ready says whether a conversation could run now, and if not, why.
func (g *Gateway) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	reply := g.readiness(ctx)
	status := http.StatusOK
	if len(reply.Problems) > 0 {
		status, reply.Status = http.StatusServiceUnavailable, "unavailable"
		c.Response().Header().Set("Retry-After", "1")
	}
	return c.JSON(status, reply)
}

func (g *Gateway) readiness(ctx context.Context) readyReply {
	reply := readyReply{Status: "ok", Problems: []string{}, Servers: []contract.ServerState{}, Version: g.Version}
	if err := g.Backend.Ping(ctx); err != nil {
		reply.Problems = append(reply.Problems, g.tell("Temporal does not answer", err))
		return reply
	}
	catalogue, err := g.catalogue.get(ctx)
	if err != nil {
		reply.Problems = append(reply.Problems, g.tell("no worker is answering", err))
		return reply
	}
	for _, s := range catalogue.Servers {
		reply.Servers = append(reply.Servers, s)
		switch {
		case s.Ready:
		case s.Error == contract.ErrorAuthentication:
			reply.Notes = append(reply.Notes, fmt.Sprintf("tool server %s serves only callers who authenticate", s.Name))
		case !s.Optional:
			reply.Problems = append(reply.Problems, fmt.Sprintf("tool server %s is not ready: %s", s.Name, s.Error))
		}
	}
	return reply
}

// tell logs the cause of what callers only read in general terms.
func (g *Gateway) tell(text string, err error) string {
	g.Logger.Warn("not ready", "problem", text, "error", err)
	return text
}
