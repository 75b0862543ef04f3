package control

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/duration"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/switches"
)

type limitReply struct {
	Name    string       `json:"name"`
	Tool    string       `json:"tool,omitempty"`
	Server  string       `json:"server,omitempty"`
	Class   rates.Class  `json:"class,omitempty"`
	Per     rates.Scope  `json:"per"`
	Calls   int          `json:"calls"`
	In      string       `json:"in"`
	OnLimit rates.Action `json:"on_limit"`
	// Changed is set if the limit differs from its configuration.
	Changed *changeReply `json:"changed,omitempty"`
	// Use are the counts that the caller may see.
	Use []useReply `json:"use"`
}

type changeReply struct {
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
	Issuer string `json:"issuer,omitempty"`
	Since  string `json:"since"`
}

type useReply struct {
	// Who is whose calls are counted, unless all are counted together.
	Who     string `json:"who,omitempty"`
	Used    int    `json:"used"`
	Waiting int    `json:"waiting,omitempty"`
	// From is the time of the oldest call that counts.
	From string `json:"from,omitempty"`
}

type limitsReply struct {
	Limits []limitReply `json:"limits"`
	// Note is set if the change was recorded and is not in force yet, or if more counts exist.
	Note string `json:"note,omitempty"`
}

const wireTime = "2006-01-02T15:04:05Z"

// Limits replies with the rate limits as they are in force, and with their use.
func (e *Endpoint) Limits(c echo.Context) error {
	state, err := e.Service.Switches(c.Request().Context())
	if err != nil {
		return err
	}
	reply, err := e.limits(c.Request().Context(), request.From(c.Request().Context()).Caller, state)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, reply)
}

func (e *Endpoint) limits(ctx context.Context, caller service.Caller, state switches.State) (limitsReply, error) {
	reply := limitsReply{Limits: []limitReply{}}
	if len(e.Rates) == 0 {
		return reply, nil
	}
	uses, more, err := e.Service.RateUses(ctx)
	if err != nil {
		return reply, err
	}
	if more {
		reply.Note = "there are more counts than are listed"
	}
	for _, configured := range e.Rates {
		one := newLimitReply(state.Limit(e.Agent, configured))
		if change, ok := state.Change(e.Agent, configured.Name); ok {
			one.Changed = &changeReply{Reason: change.Reason, By: change.By, Issuer: change.Identity.Issuer, Since: change.Since.UTC().Format(wireTime)}
		}
		for _, u := range uses {
			if u.Limit == configured.Name && maySee(caller, configured.Per, u) {
				one.Use = append(one.Use, newUseReply(u))
			}
		}
		reply.Limits = append(reply.Limits, one)
	}
	return reply, nil
}

// maySee reports whether a caller may see a count: everybody what all share and what is theirs,
// and operators and those who may read everything, all.
func maySee(c service.Caller, per rates.Scope, u rates.View) bool {
	return !c.Authenticated() || per == rates.PerAgent || c.Identity.Has(contract.ScopeOperate) || c.Identity.Has(contract.ScopeReadAll) ||
		per == rates.PerCaller && u.Who == c.Identity.Key()
}

func newLimitReply(l rates.Limit) limitReply {
	return limitReply{
		Name: l.Name, Tool: l.Tool, Server: l.Server, Class: l.Class, Per: l.Per, Calls: l.Calls, In: l.In.String(), OnLimit: l.On, Use: []useReply{},
	}
}

func newUseReply(u rates.View) useReply {
	r := useReply{Who: u.Who, Used: u.Used, Waiting: u.Waiting}
	if !u.From.IsZero() {
		r.From = u.From.UTC().Format(wireTime)
	}
	return r
}

// ChangeLimit changes a rate limit, or makes it the configured one again.
func (e *Endpoint) ChangeLimit(c echo.Context) error {
	given, err := e.readLimit(c.Request())
	if err != nil {
		return err
	}
	ctx, caller := c.Request().Context(), request.From(c.Request().Context()).Caller
	state, err := e.Service.ChangeLimit(ctx, caller, given)
	switch {
	case err != nil:
		return err
	case state == nil:
		return c.JSON(http.StatusAccepted, limitsReply{Limits: []limitReply{}, Note: changeNote})
	}
	reply, err := e.limits(ctx, caller, *state)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, reply)
}

func (e *Endpoint) readLimit(r *http.Request) (given switches.LimitChange, err error) {
	var body struct {
		Limit   string       `json:"limit"`
		Calls   int          `json:"calls"`
		In      string       `json:"in"`
		OnLimit rates.Action `json:"on_limit"`
		// Restore makes the limit the configured one again.
		Restore bool   `json:"restore"`
		Reason  string `json:"reason"`
		By      string `json:"by"`
	}
	if _, err = request.Bind(r, &body); err != nil {
		return given, err
	}
	given = switches.LimitChange{Agent: e.Agent, Limit: body.Limit, Calls: body.Calls, On: body.OnLimit, Reason: body.Reason, By: body.By}
	if body.In != "" {
		if given.In, err = duration.Parse(body.In); err != nil || given.In <= 0 {
			return given, service.Errorf(contract.KindInvalid, "in: must be a duration such as 60s, 1h30m or 1d")
		}
	}
	switch known := slices.ContainsFunc(e.Rates, func(l rates.Limit) bool { return l.Name == body.Limit }); {
	case body.Limit == "":
		return given, service.Errorf(contract.KindInvalid, "limit: is required: the name of the limit")
	case !known:
		return given, service.Errorf(contract.KindNotFound, "limits.rates has no limit with the name %s", service.Printable(body.Limit))
	case body.Restore != given.Restores():
		return given, service.Errorf(contract.KindInvalid, "expected one or more of calls, in and on_limit, or restore alone")
	}
	return given, nil
}
