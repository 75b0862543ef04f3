package rates

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Action is what happens to a call that is one too many.
type Action string

// The actions.
const (
	Deny  Action = "deny"  // it does not run; the model learns why
	Ask   Action = "ask"   // a person may let it run all the same
	Pause Action = "pause" // it waits until it may run
)

// Scope says whose calls a limit counts together.
type Scope string

// The scopes.
const (
	PerAgent        Scope = "agent"        // all
	PerCaller       Scope = "caller"       // those of a caller: of who has sent the message
	PerConversation Scope = "conversation" // those of a conversation
)

// Class is a kind of calls, by the hints of their tools that are in force.
type Class string

// The classes.
const (
	ReadOnly    Class = "read_only"
	Destructive Class = "destructive"
)

// The values of the enumerations.
var (
	Actions = []Action{Deny, Ask, Pause}
	Scopes  = []Scope{PerAgent, PerCaller, PerConversation}
	Classes = []Class{ReadOnly, Destructive}
)

// MaxIn bounds the time of a limit.
const MaxIn = 31 * 24 * time.Hour

// MaxCalls bounds the calls of a limit, and with them the state of the workflow that counts.
const MaxCalls = 10_000

// Limit is how many calls may be made in a time. Empty fields of Tool, Server and Class match all.
type Limit struct {
	// Name identifies the limit among those of its agent.
	Name   string        `json:"name"`
	Tool   string        `json:"tool,omitempty"`
	Server string        `json:"server,omitempty"`
	Class  Class         `json:"class,omitempty"`
	Per    Scope         `json:"per"`
	Calls  int           `json:"calls"`
	In     time.Duration `json:"in"` // nanoseconds
	On     Action        `json:"on_limit"`
}

// NameOf is the name of a limit that has none of its own, such as "server db per caller".
func NameOf(l Limit) string {
	var parts []string
	add := func(prefix, value string) {
		if value != "" {
			parts = append(parts, prefix+value)
		}
	}
	add("", string(l.Class))
	add("tool ", l.Tool)
	add("server ", l.Server)
	if len(parts) == 0 {
		parts = []string{"calls"}
	}
	if l.Per != PerAgent {
		add("per ", string(l.Per))
	}
	return strings.Join(parts, " ")
}

// Call is what limits need to know of a call.
type Call struct {
	Agent        string
	Conversation string
	// Key is the idempotency key: a call counts once, however often it is tried.
	Key          string
	Server, Tool string
	Destructive  bool
	// ReadOnly is asked only if a limit needs it.
	ReadOnly func() bool
	Passage
}

// Passage is what a conversation says of a call for its rate limits.
type Passage struct {
	// Caller has sent the message that led to the call, as contract.Identity.Key; "" is not known.
	Caller string `json:"caller,omitempty"`
	// Over are the limits that a person lets the call exceed.
	Over []string `json:"over,omitempty"`
}

// Matches reports whether a limit counts a call.
func (l Limit) Matches(c Call) bool {
	switch {
	case l.Tool != "" && l.Tool != c.Tool, l.Server != "" && l.Server != c.Server:
		return false
	case l.Class == Destructive:
		return c.Destructive
	case l.Class == ReadOnly:
		return !c.Destructive && c.ReadOnly != nil && c.ReadOnly()
	}
	return true
}

// Who returns whose calls are counted together with a call; "" are all.
func (l Limit) Who(c Call) string {
	switch l.Per {
	case PerCaller:
		return c.Caller
	case PerConversation:
		return c.Conversation
	}
	return ""
}

// Allows reports whether a person lets a call exceed a limit.
func (p Passage) Allows(limit string) bool { return slices.Contains(p.Over, limit) }

// String describes a limit, such as "20 calls in 1m0s per caller".
func (l Limit) String() string {
	text := fmt.Sprintf("%d calls in %s", l.Calls, l.In)
	if l.Calls == 1 {
		text = fmt.Sprintf("1 call in %s", l.In)
	}
	if l.Per != PerAgent && l.Per != "" {
		text += " per " + string(l.Per)
	}
	return text
}

// Refusal is why a call was not made. It is in the details of an error of the kind
// KindRateLimited.
type Refusal struct {
	Limit Limit `json:"limit"`
	// Counter is the ID of the workflow that counts, Key that under which the call waits there.
	Counter string `json:"counter"`
	Key     string `json:"key"`
	// At is when there is room for the call.
	At time.Time `json:"at"`
}

// Text says that the limit is reached.
func (r Refusal) Text() string {
	return fmt.Sprintf("the rate limit %q (%s) is reached until %s", r.Limit.Name, r.Limit, r.At.UTC().Format("2006-01-02 15:04:05 MST"))
}
