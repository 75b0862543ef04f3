package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

type healthReply struct {
	Status string `json:"status"`
}

// health has the handlers of probes.
type health struct {
	service *service.Service
	feed    live.Feed
	version string
	logger  *slog.Logger
	open    bool // nobody is a stranger
	prove   func(*http.Request) (contract.Identity, error)

	lastProblem atomic.Value // the last one in the log
}

// alive reports that the process runs. It checks nothing else.
func (h *health) alive(c echo.Context) error {
	return c.JSON(http.StatusOK, healthReply{"ok"})
}

type readyReply struct {
	Status string `json:"status"` // ok or unavailable
	// Problems are the reasons why the status is not ok.
	Problems []string `json:"problems"`
	// Notes are findings that do not keep conversations from running, such as servers that
	// accept only some callers.
	Notes   []string               `json:"notes,omitempty"`
	Events  *eventsReply           `json:"events,omitempty"`
	Servers []contract.ServerState `json:"servers"`
	Version string                 `json:"version,omitempty"`
}

// eventsReply describes the feed that carries pieces of replies.
type eventsReply struct {
	Deltas  string `json:"deltas"` // memory, redis or none
	Problem string `json:"problem,omitempty"`
}

// events describes the feed. It returns nil for a feed without a description. Conversations
// run without a feed, so its problems are not problems of the service.
func (h *health) events() *eventsReply {
	if h.feed == nil {
		return &eventsReply{Deltas: "none"}
	}
	f, says := h.feed.(interface {
		Carrier() (kind, problem string)
	})
	if !says {
		return nil
	}
	kind, problem := f.Carrier()
	return &eventsReply{Deltas: kind, Problem: problem}
}

const readyTimeout = 12 * time.Second

// ready reports whether a conversation could run now and, if not, why. Strangers get the status
// only: the rest names servers, and may quote their errors.
func (h *health) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyTimeout)
	defer cancel()
	reply := h.readiness(ctx)
	status := http.StatusOK
	if len(reply.Problems) > 0 {
		status, reply.Status = http.StatusServiceUnavailable, "unavailable"
		c.Response().Header().Set("Retry-After", "1")
	}
	if h.isStranger(c.Request()) {
		reply = readyReply{Status: reply.Status, Problems: []string{}, Servers: []contract.ServerState{}}
		if status != http.StatusOK {
			reply.Problems = []string{strangerProblem}
		}
	}
	return c.JSON(status, reply)
}

const strangerProblem = "something does not answer; callers who prove who they are get the list"

// isStranger reports whether a caller who would have to prove its identity does not.
func (h *health) isStranger(r *http.Request) bool {
	if h.open {
		return false
	}
	_, err := h.prove(r)
	return err != nil
}

func (h *health) readiness(ctx context.Context) readyReply {
	reply := h.inspect(ctx)
	if len(reply.Problems) == 0 {
		h.lastProblem.Store("")
	}
	return reply
}

func (h *health) inspect(ctx context.Context) readyReply {
	reply := readyReply{Status: "ok", Problems: []string{}, Servers: []contract.ServerState{}, Events: h.events(), Version: h.version}
	if err := h.service.Ping(ctx); err != nil {
		reply.Problems = append(reply.Problems, h.report("Temporal does not answer", err))
		return reply
	}
	catalogue, err := h.service.Catalogue(ctx)
	if err != nil {
		reply.Problems = append(reply.Problems, h.report(textOr(err, "no worker is answering"), err))
		return reply
	}
	reply.Problems = append(reply.Problems, catalogue.Problems...)
	reply.Notes = append(reply.Notes, catalogue.Notes...)
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

// problems returns what keeps a conversation from running now.
func (h *health) problems(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return h.readiness(ctx).Problems
}

// textOr returns the text of an Error, or the given text for another error.
func textOr(err error, text string) string {
	var e *service.Error
	if errors.As(err, &e) {
		return e.Text
	}
	return text
}

// report logs the cause of a problem and returns the problem's text. The same cause is logged
// once.
func (h *health) report(text string, err error) string {
	var e *service.Error
	if errors.As(err, &e) && e.Err != nil {
		err = e.Err
	}
	if line := text + err.Error(); h.lastProblem.Swap(line) != line {
		h.logger.Warn("not ready", "problem", text, "error", err)
	}
	return text
}
