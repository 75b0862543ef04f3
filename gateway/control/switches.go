package control

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/switches"
)

type switchReply struct {
	What    switches.Target `json:"what"`
	InWords string          `json:"in_words"`
	Reason  string          `json:"reason,omitempty"`
	By      string          `json:"by,omitempty"`
	Issuer  string          `json:"issuer,omitempty"`
	Since   string          `json:"since"`
}

type switchesReply struct {
	Switches []switchReply `json:"switches"`
	// Note is set if the change was recorded and is not in force yet.
	Note string `json:"note,omitempty"`
}

func newSwitchesReply(s switches.State) switchesReply {
	reply := switchesReply{Switches: []switchReply{}}
	for _, w := range s.Switches {
		reply.Switches = append(reply.Switches, switchReply{
			What: w.What, InWords: w.What.String(), Reason: w.Reason, By: w.By, Issuer: w.Identity.Issuer, Since: w.Since.UTC().Format(wireTime),
		})
	}
	return reply
}

// Endpoint has the handlers.
type Endpoint struct {
	Service *service.Service
	// Agent is the agent's name, Rates are its configured rate limits.
	Agent string
	Rates []rates.Limit
}

// Switches replies with the switches that are set.
func (e *Endpoint) Switches(c echo.Context) error {
	state, err := e.Service.Switches(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newSwitchesReply(state))
}

// Pause sets a switch.
func (e *Endpoint) Pause(c echo.Context) error {
	given, err := readChange(c)
	if err != nil {
		return err
	}
	state, err := e.Service.Pause(c.Request().Context(), request.From(c.Request().Context()).Caller, given)
	return changed(c, state, err)
}

// Resume removes a switch.
func (e *Endpoint) Resume(c echo.Context) error {
	given, err := readChange(c)
	if err != nil {
		return err
	}
	state, err := e.Service.Resume(c.Request().Context(), request.From(c.Request().Context()).Caller, given)
	return changed(c, state, err)
}

func readChange(c echo.Context) (switches.Change, error) {
	var body struct {
		What   switches.Target `json:"what"`
		Reason string          `json:"reason"`
		By     string          `json:"by"`
	}
	_, err := request.Bind(c.Request(), &body)
	return switches.Change{What: body.What, Reason: body.Reason, By: body.By}, err
}

const changeNote = "the change is recorded; it is in force as soon as a worker answers"

func changed(c echo.Context, state *switches.State, err error) error {
	switch {
	case err != nil:
		return err
	case state == nil:
		return c.JSON(http.StatusAccepted, switchesReply{Switches: []switchReply{}, Note: changeNote})
	}
	return c.JSON(http.StatusOK, newSwitchesReply(*state))
}
