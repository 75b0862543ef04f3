package desk

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
)

// Paths of the routes.
const (
	PathAlways = "/approvals/:uuid/always"
	PathGrants = "/grants"
	PathGrant  = "/grants/:uuid"
)

// Grants has the standing grants of the agent.
type Grants interface {
	// StandingGrants returns them, also those that have ended within standing.Kept. A worker answers.
	StandingGrants(ctx context.Context) ([]standing.Grant, error)
	// RevokeGrant ends one. It fails with KindNotFound or KindForbidden.
	RevokeGrant(ctx context.Context, r standing.Revocation) error
}

// alwaysRequest is what somebody would choose of the offer of an approval.
type alwaysRequest struct {
	Scope grant.Scope `json:"scope"`
	laterRequest
	Uses int      `json:"uses"`
	Open []string `json:"open"`
}

// alwaysReply is what a decision would grant. Always is the member of the decision that confirms it.
type alwaysReply struct {
	Text   string         `json:"text"`
	Always grant.Choice   `json:"always"`
	Terms  standing.Terms `json:"terms"`
}

// Always shows what approving a call for later ones, too, would grant. It changes nothing.
func (e *Endpoint) Always(c echo.Context) error {
	var in alwaysRequest
	if _, err := request.Bind(c.Request(), &in); err != nil {
		return err
	}
	uuid := c.Param("uuid")
	if !contract.IsUUID(uuid) {
		return service.NoApproval(uuid)
	}
	view, err := e.Service.Approval(c.Request().Context(), uuid)
	if err == nil {
		err = e.mayGrant(c, uuid)
	}
	switch {
	case err != nil:
		return err
	case view.Result != nil:
		return service.Errorf(contract.KindDecided, "%s", service.AlreadyDecided(*view.Result))
	}
	now := time.Now().UTC()
	choice := grant.Choice{Scope: in.Scope, Uses: in.Uses, Open: in.Open}
	if o := view.Pending.Always; o != nil {
		choice.Uses, choice.Until = cmp.Or(in.Uses, o.Uses), now.Add(o.AtMost).Truncate(time.Second)
	}
	if in.For != nil || in.Until != nil {
		if choice.Until, err = in.until(now); err != nil {
			return err
		}
	}
	terms, err := standing.Propose(view.Pending, choice, now)
	if err != nil {
		return &service.Error{Kind: contract.KindInvalid, Text: err.Error()}
	}
	choice.Until, choice.Digest = terms.Until, terms.Digest()
	return c.JSON(http.StatusOK, alwaysReply{terms.Text(), choice, terms})
}

// mayGrant refuses callers who may not decide an approval themselves.
func (e *Endpoint) mayGrant(c echo.Context, uuid string) error {
	caller := e.Caller(c)
	if !caller.Authenticated() {
		return nil
	}
	s, err := e.Service.Subject(c.Request().Context(), uuid)
	if err == nil && !approvers.May(caller.Identity, s.Owner.Key, s.Approvers) {
		err = service.Errorf(contract.KindForbidden, "approval %s is for others to decide", service.Printable(uuid))
	}
	return err
}

// grantReply is a standing grant.
type grantReply struct {
	standing.Terms
	Text    string           `json:"text"`
	By      standing.Person  `json:"by"`
	Since   time.Time        `json:"since"`
	Used    int              `json:"used"`
	LastUse *time.Time       `json:"last_use,omitempty"`
	Ended   *time.Time       `json:"ended,omitempty"`
	Revoked *standing.Person `json:"revoked_by,omitempty"`
	// Counts reports whether later calls may use it.
	Counts bool `json:"counts"`
}

func replyTo(g standing.Grant, now time.Time) grantReply {
	g.By.Scopes, g.By.Groups = nil, nil // what let them decide is in the record of the decision
	r := grantReply{Terms: g.Terms, Text: g.Terms.Text(), By: g.By, Since: g.Since, Used: g.Used, Revoked: g.Revoked, Counts: g.Counts(now)}
	if !g.LastUse.IsZero() {
		r.LastUse = &g.LastUse
	}
	if !g.Ended.IsZero() {
		r.Ended = &g.Ended
	}
	return r
}

type grantsReply struct {
	Grants []grantReply `json:"grants"`
}

// grants returns the standing grants that concern the caller; for those who operate the agent or read
// everything all of them.
func (e *Endpoint) grants(c echo.Context) ([]standing.Grant, error) {
	if e.Grants == nil {
		return nil, nil
	}
	all, err := e.Grants.StandingGrants(c.Request().Context())
	caller := e.Caller(c)
	if err != nil || !caller.Authenticated() || caller.Identity.Has(contract.ScopeOperate) || caller.Identity.Has(contract.ScopeReadAll) {
		return all, err
	}
	var own []standing.Grant
	for _, g := range all {
		if by := g.By.Identity(); by.Authenticated() && by.Key() == caller.Identity.Key() || g.Scope == grant.Caller && g.Of == caller.Identity.Key() {
			own = append(own, g)
		}
	}
	return own, nil
}

// ListGrants replies with the standing grants that concern the caller.
func (e *Endpoint) ListGrants(c echo.Context) error {
	all, err := e.grants(c)
	if err != nil {
		return err
	}
	reply := grantsReply{Grants: []grantReply{}}
	for _, g := range all {
		reply.Grants = append(reply.Grants, replyTo(g, time.Now()))
	}
	return c.JSON(http.StatusOK, reply)
}

// grant returns the standing grant of a request.
func (e *Endpoint) grant(c echo.Context) (standing.Grant, error) {
	id := c.Param("uuid")
	all, err := e.grants(c)
	if err != nil {
		return standing.Grant{}, err
	}
	for _, g := range all {
		if g.ID == id {
			return g, nil
		}
	}
	return standing.Grant{}, service.Errorf(contract.KindNotFound, "there is no standing grant %s", service.Printable(id))
}

// ShowGrant replies with a standing grant.
func (e *Endpoint) ShowGrant(c echo.Context) error {
	g, err := e.grant(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, replyTo(g, time.Now()))
}

// RevokeGrant ends a standing grant before its time.
func (e *Endpoint) RevokeGrant(c echo.Context) error {
	g, err := e.grant(c)
	if err != nil {
		return err
	}
	by := e.Caller(c).Identity
	r := standing.Revocation{ID: g.ID, By: standing.PersonOf(by, ""), Scopes: by.Scopes, Via: "rest"}
	if !standing.MayRevoke(g, r) {
		return service.Errorf(contract.KindForbidden, "standing grant %s is for whoever has given it, for whose calls it is, and for operators to revoke", service.Printable(g.ID))
	}
	if err := e.Grants.RevokeGrant(c.Request().Context(), r); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
