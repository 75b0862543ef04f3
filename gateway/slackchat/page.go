package slackchat

import (
	"context"
	"crypto/subtle"
	"errors"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Path is the address of the page on which a person confirms that a Slack user is them.
const Path = "/slack/link"

// invitationCookie keeps the login link while the person logs in.
const invitationCookie = "slack_link"

// ready fails at a gateway without Slack. One that does not have the lease learns here which
// workspace it is.
func (c *Chat) ready(ctx context.Context) error {
	if c == nil || !c.Proven || c.Sessions == nil {
		return service.Errorf(contract.KindNotFound, "this agent is not in Slack, or nobody has to log in to it")
	}
	if team, _ := c.self(); team != "" {
		return nil
	}
	if err := c.whoAmI(ctx); err != nil {
		return service.Errorf(service.KindUnavailable, "Slack does not answer").Because(err)
	}
	return nil
}

// view is what the page shows.
type view struct {
	Title, Text    string
	User, Name     string // whom the link is for, and who has logged in
	Token          string // of the session: the form is shown
	Invitation     string // the link that is confirmed, sealed
	Login, Refresh string
	Page           string
}

// Show shows whom a login link would link to whom. The link moves into a cookie first, so that its
// address is in no history; the page is read again, because browsers leave the session out of
// a request that another site has begun.
func (c *Chat) Show(e echo.Context) error {
	if err := c.ready(e.Request().Context()); err != nil {
		return err
	}
	if sealed := e.QueryParam("invitation"); sealed != "" {
		if _, err := c.links.open(sealed); err != nil {
			return c.render(e, http.StatusForbidden, view{Title: "This link does not hold", Text: "It is older than ten minutes, or not of this agent. Write to the agent in Slack for a new one."})
		}
		if err := c.Sessions.Jar.Keep(e.Response(), e.Request(), invitationCookie, sealed, c.Now().Add(inviteLasts)); err != nil {
			return err
		}
		return c.render(e, http.StatusOK, view{Title: "Slack", Text: "One moment.", Refresh: base(e) + Path})
	}
	in, sealed, err := c.invited(e)
	if err != nil {
		return c.render(e, http.StatusForbidden, view{Title: "There is no link", Text: "Open the link that the agent has sent you in Slack again."})
	}
	s, err := c.Sessions.Jar.Session(e.Request())
	var who contract.Identity
	if err == nil {
		who, err = c.Sessions.Caller(s)
	}
	if err != nil {
		return c.render(e, http.StatusOK, view{Title: "Who are you?", Text: "Log in to this agent. Then open the link in Slack again, unless you come back here by yourself.", Login: c.loginURL(e)})
	}
	return c.render(e, http.StatusOK, view{Title: "Is this you in Slack?", User: c.links.describe(e.Request().Context(), in.User), Name: who.Subject, Token: s.Token, Invitation: sealed})
}

// Confirm links the user of the login link to the person who has logged in. The form says which link
// its page has shown: the browser may have opened another one since.
func (c *Chat) Confirm(e echo.Context) error {
	if err := c.ready(e.Request().Context()); err != nil {
		return err
	}
	in, sealed, err := c.invited(e)
	if err != nil {
		return c.render(e, http.StatusForbidden, view{Title: "There is no link", Text: "Open the link that the agent has sent you in Slack again."})
	}
	if subtle.ConstantTimeCompare([]byte(e.FormValue("invitation")), []byte(sealed)) != 1 {
		return c.render(e, http.StatusConflict, view{Title: "Another link was opened meanwhile", Text: "Nobody was linked. Open the link that the agent has sent you in Slack again, and no other one."})
	}
	s, err := c.Sessions.Jar.Session(e.Request())
	if err == nil {
		_, err = c.Sessions.Caller(s)
	}
	if err != nil || !s.Admits(e.FormValue("csrf_token")) {
		return c.render(e, http.StatusForbidden, view{Title: "You are not logged in", Text: "Open the link that the agent has sent you in Slack again."})
	}
	who, err := c.links.keep(e.Request().Context(), in, s)
	if err == nil {
		c.Logger.Info("a Slack user is linked", "user", in.User, "caller", who.Key())
	}
	return c.confirmed(e, err)
}

func (c *Chat) confirmed(e echo.Context, err error) error {
	var refused *identity.Refused
	switch {
	case errors.Is(err, errUsed):
		return c.render(e, http.StatusConflict, view{Title: "This link was used before", Text: "Write to the agent in Slack for a new one."})
	case errors.As(err, &refused):
		return c.render(e, http.StatusForbidden, view{Title: "You are not linked", Text: refused.Reason})
	case err != nil:
		c.Logger.Error("a Slack user was not linked", "error", err)
		return c.render(e, http.StatusServiceUnavailable, view{Title: "You are not linked", Text: "Slack could not be reached, or has refused. Open the link again in a moment."})
	}
	var gone string
	_ = c.Sessions.Jar.Take(e.Response(), e.Request(), invitationCookie, &gone) // it was there a moment ago
	return c.render(e, http.StatusOK, view{Title: "Done", Text: "The agent knows you in Slack now. Send your message there again."})
}

// invited returns the login link that the browser has opened last.
func (c *Chat) invited(e echo.Context) (in invitation, sealed string, err error) {
	if err := c.Sessions.Jar.Peek(e.Request(), invitationCookie, &sealed); err != nil {
		return in, "", err
	}
	in, err = c.links.open(sealed)
	return in, sealed, err
}

// loginURL is where the browser logs in: at the provider, which sends it back here, or on the page.
func (c *Chat) loginURL(e echo.Context) string {
	if len(c.Sessions.Logins) > 0 {
		return base(e) + "/auth/login?return=slack/link"
	}
	return base(e) + "/"
}

func base(e echo.Context) string { return request.From(e.Request().Context()).Caller.BaseURL }

func (c *Chat) render(e echo.Context, status int, v view) error {
	h := e.Response().Header()
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send the form with Origin: null
	e.Response().WriteHeader(status)
	v.Page = base(e) + Path
	return linkPage.Execute(e.Response(), v)
}

var linkPage = template.Must(template.New("link").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">{{with .Refresh}}<meta http-equiv="refresh" content="0;url={{.}}">{{end}}<title>{{.Title}}</title></head>
<body><main><h1>{{.Title}}</h1>
{{- with .Text}}<p>{{.}}</p>{{end}}
{{- with .Refresh}}<p><a href="{{.}}">Go on</a></p>{{end}}
{{- with .Login}}<p><a href="{{.}}">Log in</a></p>{{end}}
{{- if .Token}}<p>The Slack user <strong>{{.User}}</strong> will send messages and decide approvals as <strong>{{.Name}}</strong>. Confirm it only if this user is you, and you have asked for it a moment ago.</p>
<form method="post" action="{{.Page}}"><input type="hidden" name="csrf_token" value="{{.Token}}"><input type="hidden" name="invitation" value="{{.Invitation}}"><button>Yes, this is me</button></form>{{end}}
</main></body></html>
`))
