package desk

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

// Endpoint has the handlers.
type Endpoint struct {
	Service *service.Service
	Grants  Grants // nil has none
	// Caller returns who sends a request.
	Caller func(echo.Context) service.Caller
}

// Paths of the routes.
const (
	PathLater    = "/approvals/:uuid/later"
	PathDeputies = "/deputies"
	PathDeputy   = "/deputies/:uuid"
)

// deputyReply is a deputy. Rights that it is about are those of the one who has appointed it.
type deputyReply struct {
	ID       string        `json:"id"`
	From     contract.Name `json:"from"`
	To       contract.Name `json:"to"`
	Approval string        `json:"approval,omitempty"`
	Since    time.Time     `json:"since"`
	Until    time.Time     `json:"until"`
	Reason   string        `json:"reason,omitempty"`
}

func replyOf(d deputy.Deputy) deputyReply {
	return deputyReply{
		ID: d.ID, From: contract.Name{Subject: d.From.Subject, Issuer: d.From.Issuer}, To: contract.Name{Subject: d.To.Subject, Issuer: d.To.Issuer},
		Approval: d.Approval, Since: d.Since, Until: d.Until, Reason: d.Reason,
	}
}

type deputiesReply struct {
	Deputies []deputyReply `json:"deputies"`
}

// List replies with who decides in whose place, as far as it concerns the caller.
func (e *Endpoint) List(c echo.Context) error {
	list, err := e.Service.Deputies(c.Request().Context(), e.Caller(c))
	if err != nil {
		return err
	}
	reply := deputiesReply{Deputies: []deputyReply{}}
	for _, d := range list {
		reply.Deputies = append(reply.Deputies, replyOf(d))
	}
	return c.JSON(http.StatusOK, reply)
}

// appointment is the body of Appoint. It has one of For and Until.
type appointment struct {
	To struct {
		Subject string `json:"subject"`
		Issuer  string `json:"issuer"`
	} `json:"to"`
	Approval string `json:"approval"`
	laterRequest
	Reason string `json:"reason"`
}

// Appoint lets somebody decide in the caller's place.
func (e *Endpoint) Appoint(c echo.Context) error {
	var in appointment
	if _, err := request.Bind(c.Request(), &in); err != nil {
		return err
	}
	until, err := in.until(time.Now().UTC())
	if err != nil {
		return err
	}
	d, err := e.Service.Appoint(c.Request().Context(), e.Caller(c), deputy.Deputy{
		To: deputy.Person{Subject: in.To.Subject, Issuer: in.To.Issuer}, Approval: in.Approval, Until: until, Reason: in.Reason,
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, replyOf(d))
}

// Revoke ends a deputy before its time.
func (e *Endpoint) Revoke(c echo.Context) error {
	if err := e.Service.Revoke(c.Request().Context(), e.Caller(c), c.Param("uuid")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
