package grant

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scope says for whose calls a standing grant counts.
type Scope string

// The scopes, the narrowest first.
const (
	Turn         Scope = "turn"         // of the work for one message
	Conversation Scope = "conversation" // of one conversation
	Caller       Scope = "caller"       // of all conversations, in the work for messages of one caller
	Agent        Scope = "agent"        // of the agent
)

// Scopes lists the scopes, the narrowest first.
func Scopes() []Scope { return []Scope{Turn, Conversation, Caller, Agent} }

// Bounds of what a rule may offer.
const (
	MaxTime = 90 * 24 * time.Hour
	MaxUses = 100
	MaxOpen = 16
	// MaxArguments bounds the arguments of a call for which a standing grant is given, in bytes.
	MaxArguments = 4 << 10
)

// Offer is what the rules let whoever approves a call grant for later ones.
type Offer struct {
	Scopes []Scope       `json:"scopes"`
	AtMost time.Duration `json:"at_most"` // in nanoseconds
	Uses   int           `json:"uses"`    // at most
	// Open are the arguments that may be left open: names, or pointers such as /to/city.
	Open []string `json:"open,omitempty"`
	// Rules is the digest of the rules that match the call. A later call needs the same.
	Rules string `json:"rules"`
	// Node is the node that calls. Caller is the key of the sender of the message, and Turn the
	// request of the message: "" if they are not known. They are set when the approval opens.
	Node   string `json:"node,omitempty"`
	Caller string `json:"caller,omitempty"`
	Turn   string `json:"turn,omitempty"`
}

// And returns what both offers allow, nil if that is nothing. The rules are those of the first.
func (o *Offer) And(other *Offer) *Offer {
	if o == nil || other == nil {
		return nil
	}
	both := *o
	both.AtMost, both.Uses = min(o.AtMost, other.AtMost), min(o.Uses, other.Uses)
	both.Scopes = slices.DeleteFunc(slices.Clone(o.Scopes), func(s Scope) bool { return !slices.Contains(other.Scopes, s) })
	both.Open = slices.DeleteFunc(slices.Clone(o.Open), func(name string) bool { return !slices.Contains(other.Open, name) })
	if len(both.Scopes) == 0 {
		return nil
	}
	return &both
}

// For returns the offer with the scopes that can be told apart from others, nil if there are none.
func (o Offer) For(node, caller, turn string) *Offer {
	o.Node, o.Caller, o.Turn = node, caller, turn
	o.Scopes = slices.DeleteFunc(slices.Clone(o.Scopes), func(s Scope) bool { return s == Caller && caller == "" || s == Turn && turn == "" })
	if len(o.Scopes) == 0 {
		return nil
	}
	return &o
}

// Choice is what a person chooses of an offer.
type Choice struct {
	Scope Scope     `json:"scope"`
	Until time.Time `json:"until"`
	Uses  int       `json:"uses"`
	// Open are arguments that may be any, by their names or pointers.
	Open []string `json:"open,omitempty"`
	// Digest is that of what was shown, when it is confirmed.
	Digest string `json:"digest,omitempty"`
}

// Check returns why an offer does not allow a choice, or nil.
func (o *Offer) Check(c Choice, now time.Time) error {
	switch {
	case o == nil:
		return errors.New("always: the rules let nobody approve this call for later ones, too")
	case !slices.Contains(o.Scopes, c.Scope):
		return fmt.Errorf("always: scope is %.40q: must be one of %s", string(c.Scope), list(o.Scopes))
	case !c.Until.After(now):
		return errors.New("always: until is over already")
	case c.Until.Sub(now) > o.AtMost:
		return fmt.Errorf("always: until: the rules allow %s at most", o.AtMost)
	case c.Uses < 1 || c.Uses > o.Uses:
		return fmt.Errorf("always: uses is %d: must be 1 to %d", c.Uses, o.Uses)
	case len(c.Open) > MaxOpen:
		return fmt.Errorf("always: open has more than %d arguments", MaxOpen)
	}
	for i, name := range c.Open {
		switch {
		case slices.Contains(c.Open[:i], name):
			return fmt.Errorf("always: open has %.100q twice", name)
		case !slices.Contains(o.Open, name):
			return fmt.Errorf("always: %.100q may not be left open; what may be is %s", name, either(strings.Join(o.Open, ", ")))
		}
	}
	return nil
}

func list(scopes []Scope) string {
	var out []string
	for _, s := range scopes {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}

func either(names string) string {
	if names == "" {
		return "nothing"
	}
	return names
}

// Use is the use of a standing grant, in the record of the call that it lets run.
type Use struct {
	ID string `json:"id"` // of the grant: the UUID of the approval with which it was given
	// By is who has given it, as Proven by an issuer or as claimed; "" is somebody unknown.
	By     string    `json:"by,omitempty"`
	Proven bool      `json:"proven,omitempty"`
	Scope  Scope     `json:"scope"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	// Number counts the uses, with this one. Left is how many follow at most.
	Number int `json:"number"`
	Left   int `json:"left"`
}

// Given is a standing grant in the record of the decision with which it was given.
type Given struct {
	Choice
	// Problem is why there is none all the same. The call itself is approved.
	Problem string `json:"problem,omitempty"`
}
