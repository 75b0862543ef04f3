package session

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// endings are the sessions that were logged out here and that a cookie could still prove.
type endings struct {
	mu    sync.Mutex
	until map[string]time.Time // by ID
}

func (e *endings) has(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.until[id]
	return ok
}

func (e *endings) add(s Session, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.until == nil {
		e.until = map[string]time.Time{}
	}
	for id, until := range e.until {
		if !now.Before(until) {
			delete(e.until, id)
		}
	}
	e.until[s.ID] = s.Ends
}

// End ends a session: here, and with it the right to renew it at the provider. It returns the address at
// which the person logs out of the provider, or "" if there is none; from there the browser comes
// back to the page.
func (s *Sessions) End(ctx context.Context, old Session, page string) string {
	s.ended.add(old, s.Now())
	l, err := s.login(old.Issuer)
	if err != nil {
		return ""
	}
	at, err := l.Way.Endpoints(ctx)
	if err != nil {
		return ""
	}
	if at.Revocation != "" && old.RefreshToken != "" {
		l.revoke(ctx, at.Revocation, old.RefreshToken)
	}
	end, err := url.Parse(at.EndSession)
	if err != nil || at.EndSession == "" {
		return ""
	}
	query := end.Query()
	query.Set("client_id", l.ClientID)
	query.Set("post_logout_redirect_uri", page)
	if old.IDToken != "" {
		query.Set("id_token_hint", old.IDToken)
	}
	end.RawQuery = query.Encode()
	return end.String()
}

// revoke revokes a refresh token (RFC 7009). If that fails, the token is still in nobody's hands but those of
// whoever has a copy of the cookie and the keys of the agent.
func (l *Login) revoke(ctx context.Context, address, token string) {
	form := url.Values{"token": {token}, "token_type_hint": {"refresh_token"}, "client_id": {l.ClientID}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if l.ClientSecret != "" {
		r.SetBasicAuth(url.QueryEscape(l.ClientID), url.QueryEscape(l.ClientSecret))
	}
	if reply, err := l.Way.Client.Do(r); err == nil {
		reply.Body.Close()
	}
}
