package toolbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
)

// explain puts the failure of a handshake into words. It keeps the fact that
// authentication is required, and leaves out what the body said.
func (x *exchange) explain(ctx context.Context, err error) error {
	status := x.httpStatus()
	switch {
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
		return "authentication is required"
	}
	text := err.Error()
	var ue *url.Error
	if errors.As(err, &ue) {
		text = strings.ReplaceAll(text, ue.Error(), ue.Err.Error())
	}
	for _, layer := range []string{"transport error: ", "failed to send request: "} {
		text = strings.ReplaceAll(text, layer, "")
	}
	return strings.Join(strings.Fields(text), " ")
}

const hidden = "[bearer token]"

// hide replaces a token that a server has put into its words. The identity of
// the error stays.
func hide(err error, bearer string) error {
	if bearer == "" || err == nil || !strings.Contains(err.Error(), bearer) {
		return err
	}
	return hiddenError{err: err, text: strings.ReplaceAll(plain(err), bearer, hidden)}
}

type hiddenError struct {
	err  error
	text string
}

func (e hiddenError) Error() string        { return e.text }
func (e hiddenError) Is(target error) bool { return errors.Is(e.err, target) }

func (r Result) without(bearer string) Result {
	if bearer != "" {
		r.Text = strings.ReplaceAll(r.Text, bearer, hidden)
	}
	return r
}
