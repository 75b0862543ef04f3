package cli

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
)

// The exit codes, which scripts use.
const (
	ExitFailure     = 1
	ExitUsage       = 2
	ExitWaits       = 3
	ExitRefused     = 4
	ExitUnreachable = 5
	ExitInterrupted = 130
)

// ExitCodes describes the exit codes for a help text.
const ExitCodes = `Exit codes:
  0    it is done
  1    it failed; the error says why
  2    the command line is wrong, and nothing was done
  3    the turn waits for an approval
  4    the agent refused it: not found, not allowed, already decided, already closed
  5    no agent answers at the URL
  130  it was interrupted with Ctrl-C
`

// UsageError is an error of the command line.
type UsageError struct{ Cause error }

func (e *UsageError) Error() string { return e.Cause.Error() }

func (e *UsageError) Unwrap() error { return e.Cause }

// errWaits means that a turn waits for an approval, which has been shown.
var errWaits = errors.New("the turn waits for an approval")

// ExitCode returns the exit code of a process that ends with this error.
func ExitCode(err error) int {
	var usage *UsageError
	var unreachable *client.Unreachable
	status := client.StatusOf(err)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, errWaits):
		return ExitWaits
	case status >= 400 && status < 500:
		return ExitRefused
	case errors.As(err, &unreachable):
		return ExitUnreachable
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	}
	return ExitFailure
}

// Describe returns an error in words for a person, with what to do about it.
func Describe(err error) string {
	var unreachable *client.Unreachable
	text := screen.Safe(err.Error())
	switch {
	case errors.As(err, &unreachable):
		return text + "\nStart one with 'agent run', or name another with --url or AGENT_URL. 'agent doctor' says more."
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	switch client.StatusOf(err) {
	case http.StatusUnauthorized:
		return text + "\n" + howToProve(err)
	case http.StatusForbidden, http.StatusMisdirectedRequest:
		if strings.HasPrefix(strings.TrimPrefix(text, "edit: "), "the rule ") { // of the agent, whoever decides
			return text
		}
		return text + "\nThe key, or the name in the URL, is not allowed to do that."
	case http.StatusServiceUnavailable:
		return text + "\n'agent doctor' says what is missing."
	}
	return text
}

// askTime is how long a failed command waits for the agent's ways to log in.
const askTime = 2 * time.Second

// howToProve says how a person proves who calls, to an agent that has refused a request: only
// by what it accepts and the request has not had.
func howToProve(err error) string {
	const key = "put a key into AGENT_KEY"
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Agent == nil {
		return "The agent wants to know who you are: " + key + "."
	}
	if refused.Agent.HasKey() {
		return "The key of --key or AGENT_KEY does not hold here: " + key + " that does."
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	methods, err := refused.Agent.Methods(ctx)
	if _, none := deviceMethod(methods, ""); err != nil || none != nil {
		return "The agent wants to know who you are: " + key + "."
	}
	return "The agent wants to know who you are: run 'agent login', or " + key + "."
}
