package rates

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"
)

// Registered names of the workflow that counts the calls of one limit: of all, of one caller or of
// one conversation. It begins with the first call and completes when the last no longer counts.
const (
	Workflow = "Rate"
	// UpdateTake takes a []Take and returns an []Outcome in the same order.
	UpdateTake = "take"
	// SignalReturn takes the Key of a call that was not made.
	SignalReturn = "return"
	// QueryRate takes a time.Time and returns a View.
	QueryRate = "rate"
)

// Bounds of the workflow.
const (
	MaxTakes   = 100  // in one update
	MaxWaiting = 1000 // calls that wait for room; more are refused
)

// WorkflowID returns the ID of the workflow that counts. It shows no name of a caller.
func WorkflowID(agent, limit, who string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{agent, limit, who}, "\x00")))
	return "rate-" + hex.EncodeToString(sum[:16])
}

// KeyOf shortens the idempotency key of a call.
func KeyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// Input starts the workflow. Counted and Waiting are empty except for a run that continues another.
type Input struct {
	Agent   string    `json:"agent"`
	Limit   string    `json:"limit"`
	Who     string    `json:"who,omitempty"`
	Counted []Counted `json:"counted,omitempty"`
	Waiting []Counted `json:"waiting,omitempty"`
	// Window is the longest time in which a call has been counted so far, in nanoseconds.
	Window time.Duration `json:"window,omitempty"`
}

// Counted is a call that counts from At on, or that waits until then.
type Counted struct {
	Key string    `json:"k"`
	At  time.Time `json:"t"`
}

// Take asks for room for a call. A call that counts already is not counted again.
type Take struct {
	Key   string        `json:"key"`
	Calls int           `json:"calls"`
	In    time.Duration `json:"in"` // nanoseconds
	// Wait keeps a place for the call if there is no room now.
	Wait bool `json:"wait,omitempty"`
	// Over counts the call even if there is no room.
	Over bool `json:"over,omitempty"`
}

// Outcome is the answer to a Take.
type Outcome struct {
	// Room means that the call counts and may be made. New means that it did not count before.
	Room bool `json:"room,omitempty"`
	New  bool `json:"new,omitempty"`
	// Waits means that the call has a place, and asks again at At. Otherwise At is when there is
	// room, unless others come first.
	Waits bool      `json:"waits,omitempty"`
	At    time.Time `json:"at,omitzero"`
}

// View is the result of QueryRate.
type View struct {
	Limit string `json:"limit"`
	Who   string `json:"who,omitempty"`
	// Used counts the calls that count, Waiting those that wait. From is the time of the oldest
	// that counts.
	Used    int       `json:"used"`
	Waiting int       `json:"waiting,omitempty"`
	From    time.Time `json:"from,omitzero"`
}
