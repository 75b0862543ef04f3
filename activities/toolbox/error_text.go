package toolbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/workflows/contract"
)

// explain describes the failure of a handshake. It keeps the fact that authentication is
// required, and omits the body.
func (x *trace) explain(ctx context.Context, err error) error {
	status := x.httpStatus()
	switch {
	case x.excess != nil:
		return x.excess
	case x.denied() != nil:
		return x.denied()
	case errors.Is(err, transport.ErrAuthorizationRequired):
		return &unauthorizedError{x.challenges}
	case status >= 300:
		return fmt.Errorf("answered %s", statusText(status))
	case errors.Is(err, client.ErrRepeatedListCursor):
		return client.ErrRepeatedListCursor
	case ctx.Err() != nil:
		return fmt.Errorf("no answer in time: %w", context.Cause(ctx))
	}
	return err
}

// cause returns why a handshake failed with err: the loss of the connection, if there was one,
// because it ends running requests. An answer of the server, or the end of the child, takes
// precedence.
func (c *conn) cause(err error) error {
	_, web := c.wire.(webWire)
	var refused *refusedError
	if !web || errors.As(err, &refused) || errors.Is(err, transport.ErrAuthorizationRequired) {
		return err
	}
	return c.reason()
}

// refusedError is a refused handshake.
type refusedError struct {
	err error
	web bool
}

func (e *refusedError) Error() string {
	if e.web {
		return e.err.Error() + " (a server of the older kind wants transport: sse)"
	}
	return e.err.Error()
}

func (e *refusedError) Unwrap() error { return e.err }

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// plain returns the text of an error for people: without mcp-go's layers, and without the URL,
// whose query may contain a secret.
func plain(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, transport.ErrAuthorizationRequired) {
		return contract.ErrorAuthentication
	}
	text := err.Error()
	var ue *url.Error
	if errors.As(err, &ue) {
		text = strings.ReplaceAll(text, ue.Error(), ue.Err.Error())
	}
	return strings.Join(strings.Fields(withoutLayers(text)), " ")
}

// mask returns a mask for the caller's token and the server's configured credentials.
func (s Server) mask(bearer string) *mask.Mask {
	secrets := slices.Concat(mask.Headers(s.Headers), mask.Headers(s.Env), mask.URL(s.URL))
	for _, value := range s.Env {
		secrets = append(secrets, mask.URL(value)...)
	}
	for _, value := range s.Secrets {
		secrets = append(secrets, mask.Header(value)...)
	}
	secrets = append(secrets, secretsOf(s.Credential)...)
	return mask.New(append(secrets, mask.Bearer(bearer))...)
}

func (l *link) mask(bearer string) *mask.Mask { return l.server.mask(bearer) }

func (t *Toolbox) mask(server, bearer string) *mask.Mask {
	if l := t.link(server); l != nil {
		return l.mask(bearer)
	}
	return mask.New(mask.Bearer(bearer))
}

// hideSecrets masks secrets in a server's error, which may quote a part of what was sent. The
// identity of the error is preserved.
func hideSecrets(err error, m *mask.Mask) error {
	text := plain(err)
	hidden := m.Excerpt(text)
	if err == nil || hidden == text && !m.Shows(err.Error()) {
		return err
	}
	return hiddenError{err: err, text: hidden}
}

type hiddenError struct {
	err  error
	text string
}

func (e hiddenError) Error() string        { return e.text }
func (e hiddenError) Is(target error) bool { return errors.Is(e.err, target) }

func (r Result) without(s *mask.Mask) Result {
	r.Text, r.Challenges = s.Text(r.Text), masked(r.Challenges, s)
	for i, m := range r.Media {
		r.Media[i] = m.without(s)
	}
	for i, l := range r.Links {
		r.Links[i] = contract.Link{URI: s.Text(l.URI), Name: s.Text(l.Name), MIMEType: s.Text(l.MIMEType)}
	}
	return r
}

func masked(texts []string, s *mask.Mask) []string {
	out := slices.Clone(texts)
	for i, text := range out {
		out[i] = s.Text(text)
	}
	return out
}
