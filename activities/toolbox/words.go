package toolbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/workflows/contract"
)

// explain puts the failure of a handshake into words. It keeps the fact that
// authentication is required, and leaves out what the body said.
func (x *exchange) explain(ctx context.Context, err error) error {
	status := x.httpStatus()
	switch {
	case x.excess != nil:
		return x.excess
	case errors.Is(err, transport.ErrAuthorizationRequired):
		return transport.ErrAuthorizationRequired
	case status >= 300:
		return fmt.Errorf("answered %s", statusText(status))
	case errors.Is(err, client.ErrRepeatedListCursor):
		return client.ErrRepeatedListCursor
	case ctx.Err() != nil:
		return fmt.Errorf("no answer in time: %w", context.Cause(ctx))
	}
	return err
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

// plain is an error for people: without mcp-go's layers, and without the URL,
// whose query may hold a secret.
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
	for _, layer := range []string{"transport error: ", "failed to send request: ", "failed to connect to SSE stream: "} {
		text = strings.ReplaceAll(text, layer, "")
	}
	return strings.Join(strings.Fields(text), " ")
}

// secrets are values that a server may know and others must not see, each with
// the word that takes its place.
type secrets map[string]string

// secrets of a call: the caller's token, and what the server's own headers hold.
func (l *link) secrets(bearer string) secrets {
	out := ofBearer(bearer)
	for name, value := range l.server.Headers {
		if _, token, ok := strings.Cut(value, " "); ok {
			value = token
		}
		if credentialHeader.MatchString(name) && len(value) >= minSecret {
			out[value] = "[secret]"
		}
	}
	return out
}

func (t *Toolbox) secrets(server, bearer string) secrets {
	if l := t.link(server); l != nil {
		return l.secrets(bearer)
	}
	return ofBearer(bearer)
}

func ofBearer(bearer string) secrets {
	if len(bearer) < minSecret {
		return secrets{}
	}
	return secrets{bearer: "[bearer token]"}
}

// minSecret keeps a word that is hardly a secret from being cut out of texts.
const minSecret = 8

var credentialHeader = regexp.MustCompile(`(?i)auth|token|key|secret|password|cookie|credential`)

func (s secrets) hide(text string) string {
	for _, secret := range s.longestFirst() {
		text = strings.ReplaceAll(text, secret, s[secret])
	}
	return text
}

// longestFirst: a secret may contain another one.
func (s secrets) longestFirst() []string {
	return slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

// hide replaces secrets that a server has put into its words. The identity of
// the error stays.
func hide(err error, s secrets) error {
	if err == nil || s.hide(err.Error()) == err.Error() {
		return err
	}
	return hiddenError{err: err, text: s.hide(plain(err))}
}

type hiddenError struct {
	err  error
	text string
}

func (e hiddenError) Error() string        { return e.text }
func (e hiddenError) Is(target error) bool { return errors.Is(e.err, target) }

func (r Result) without(s secrets) Result {
	r.Text = s.hide(r.Text)
	for i, m := range r.Media {
		r.Media[i] = m.without(s)
	}
	for i, l := range r.Links {
		r.Links[i] = contract.Link{URI: s.hide(l.URI), Name: s.hide(l.Name), MIMEType: s.hide(l.MIMEType)}
	}
	return r
}
