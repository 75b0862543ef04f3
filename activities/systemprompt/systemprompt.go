// Package systemprompt reads the system prompt that a tool server has for agents.
package systemprompt

import (
	"context"
	"encoding/json"
	"errors"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract/promptversion"
)

// Reader reads resources of tool servers.
type Reader interface {
	ReadResource(ctx context.Context, a toolbox.Access, uri string) (toolbox.Result, error)
}

// Read reads the prompt of a tool server, without a caller's credential.
func Read(ctx context.Context, c Reader, server string) (out promptversion.Reading) {
	r, err := c.ReadResource(ctx, toolbox.Access{Server: server}, promptversion.URI)
	var failed *toolbox.Error
	switch {
	case errors.As(err, &failed):
		out.Problem = failed.Reason()
	case err != nil:
		out.Problem = err.Error()
	case r.AuthRequired != "":
		out.Problem = "it answers only those who have logged in"
	case !json.Valid([]byte(r.Text)):
		out.Problem = promptversion.URI + " is not a prompt"
	default:
		out.Prompt = json.RawMessage(r.Text)
	}
	return out
}
