package local

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Scope is the Inside of an agent: what the node of the call may use, judged by what the call
// itself was judged by.
type Scope struct {
	Offer interface {
		Tools(ctx context.Context) []toolbox.Tool
		Check(ctx context.Context, tool string, args json.RawMessage) (fixed json.RawMessage, problem string)
	}
	// Policy and Servers are those of the agent; nil has no rules, or tells no facts.
	Policy  rules.Policy
	Servers rules.Servers
	// Tools are the tools and servers of the node: nil is all, an empty list none.
	Tools []string
	// Basis is a verdict.Basis. Without it nothing is known, and rules that need it ask.
	Basis json.RawMessage
	Time  time.Time
	// Call makes a call. An error without a kind, other than that of the context, means that it was not made.
	Call func(ctx context.Context, tool toolbox.Tool, args json.RawMessage) (contract.CallToolResult, string, error)
}

var _ Inside = Scope{}

// Tool implements Inside.
func (s Scope) Tool(ctx context.Context, name string) (toolbox.Tool, bool) {
	t := find(s.Offer.Tools(ctx), name)
	if t == nil || s.Tools != nil && !slices.Contains(s.Tools, t.Name) && !slices.Contains(s.Tools, t.Server) {
		return toolbox.Tool{}, false
	}
	return *t, true
}

// Check implements Inside.
func (s Scope) Check(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, string) {
	return s.Offer.Check(ctx, tool, args)
}

// Judge implements Inside.
func (s Scope) Judge(ctx context.Context, tool toolbox.Tool, args json.RawMessage) *verdict.Verdict {
	about := verdict.Call{Time: s.Time}
	var b verdict.Basis
	if len(s.Basis) > 0 && json.Unmarshal(s.Basis, &b) == nil {
		about = b.Of(about)
	}
	j := rules.Judge{Policy: s.Policy, Servers: s.Servers, About: about}
	return j.Call(ctx, tool, true, args)
}

// Run implements Inside.
func (s Scope) Run(ctx context.Context, tool toolbox.Tool, args json.RawMessage) (contract.CallToolResult, string, error) {
	out, text, err := s.Call(ctx, tool, args)
	var known *temporal.ApplicationError
	switch errors.As(err, &known); {
	case known != nil && slices.Contains(notMade, contract.Kind(known.Type())):
		err = &NotMade{known.Message()}
	case known != nil:
		err = errors.New(known.Message())
	case err != nil && ctx.Err() == nil:
		err = &NotMade{err.Error()}
	}
	return out, text, err
}

// NotMade is the error of a call that was not made.
type NotMade struct{ Why string }

func (e *NotMade) Error() string { return e.Why }

// notMade are the kinds of failures of calls that only read and were not made.
var notMade = []contract.Kind{contract.KindToolUnavailable, contract.KindRateLimited, contract.KindDigest, contract.KindChanged, contract.KindPaused}
