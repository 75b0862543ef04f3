package switches

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
)

// Registered names of changes of rate limits. People type the signal.
const (
	SignalLimit = "limit" // a LimitChange
	// UpdateLimit takes a LimitChange and returns the new State.
	UpdateLimit = "limit"
)

// LogLimit is the message of the log lines about changed limits.
const LogLimit = "a rate limit is changed"

// MaxLimits bounds the limits of a namespace that differ from their configuration.
const MaxLimits = 200

// LimitChange changes a rate limit of an agent while it runs. Zero fields leave what the
// configuration says; if all of them are zero, the limit is the configured one again.
type LimitChange struct {
	Agent  string        `json:"agent"`
	Limit  string        `json:"limit"`
	Calls  int           `json:"calls,omitempty"`
	In     time.Duration `json:"in,omitempty"` // nanoseconds
	On     rates.Action  `json:"on_limit,omitempty"`
	Reason string        `json:"reason,omitempty"`
	By     string        `json:"by,omitempty"`
	// Since is set by the Control.
	Since    time.Time         `json:"since,omitzero"`
	Identity contract.Identity `json:"identity,omitzero"`
	Proof    string            `json:"proof,omitempty"`
}

// Restores reports whether the limit is the configured one again.
func (c LimitChange) Restores() bool { return c.Calls == 0 && c.In == 0 && c.On == "" }

// Setting says what is set, such as "calls=20 in=1m0s on_limit=deny", or "as configured".
func (c LimitChange) Setting() string {
	if c.Restores() {
		return "as configured"
	}
	var out []string
	if c.Calls != 0 {
		out = append(out, fmt.Sprintf("calls=%d", c.Calls))
	}
	if c.In != 0 {
		out = append(out, "in="+c.In.String())
	}
	if c.On != "" {
		out = append(out, "on_limit="+string(c.On))
	}
	return strings.Join(out, " ")
}

// Check fails for a change that cannot be made.
func (c LimitChange) Check() error {
	for _, text := range []struct{ name, value string }{{"agent", c.Agent}, {"limit", c.Limit}} {
		if text.value == "" {
			return fmt.Errorf("%s: is required", text.name)
		}
		if err := line(text.value, MaxName); err != nil {
			return fmt.Errorf("%s: %w", text.name, err)
		}
	}
	switch {
	case c.Calls < 0 || c.Calls > rates.MaxCalls:
		return fmt.Errorf("calls: must be between 1 and %d", rates.MaxCalls)
	case c.In != 0 && (c.In < time.Second || c.In > rates.MaxIn):
		return fmt.Errorf("in: must be between 1s and %s", rates.MaxIn)
	case c.On != "" && !slices.Contains(rates.Actions, c.On):
		return errors.New("on_limit: must be deny, ask or pause")
	}
	if err := line(c.Reason, MaxReason); err != nil {
		return fmt.Errorf("reason: %w", err)
	}
	if err := line(c.By, MaxBy); err != nil {
		return fmt.Errorf("by: %w", err)
	}
	return nil
}

// Change returns the change of a limit that is in force.
func (s State) Change(agent, limit string) (LimitChange, bool) {
	i := slices.IndexFunc(s.Limits, func(c LimitChange) bool { return c.Agent == agent && c.Limit == limit })
	if i < 0 {
		return LimitChange{}, false
	}
	return s.Limits[i], true
}

// Limit returns a configured limit of an agent as it is in force.
func (s State) Limit(agent string, l rates.Limit) rates.Limit {
	c, _ := s.Change(agent, l.Name)
	if c.Calls > 0 {
		l.Calls = c.Calls
	}
	if c.In > 0 {
		l.In = c.In
	}
	if c.On != "" {
		l.On = c.On
	}
	return l
}
