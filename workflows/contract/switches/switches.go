package switches

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"agent-stop-and-go/workflows/contract"
)

// Registered names. People type the signals.
const (
	Workflow   = "Control"
	WorkflowID = "control"
	// TaskQueue is the task queue of the Control, which all workers of a namespace poll.
	TaskQueue = "agent-control"

	SignalPause  = "pause"  // a Change, or a Target alone
	SignalResume = "resume" // a Change, or a Target alone
	SignalWait   = "wait"   // a Wait, from an Approval
	// SignalRenew begins a new run, whose input and memo are encrypted with the first key of the worker.
	SignalRenew = "renew"
	// SignalGo goes from the Control to an Approval that waits: a Release.
	SignalGo = "go"

	// The updates take a Change and return the new State.
	UpdatePause  = "pause"
	UpdateResume = "resume"

	QueryControl = "control" // a View

	MemoSwitches = "switches"
)

// Messages of the log lines about changes, which log filters for Temporal's messages let pass.
const (
	LogPaused  = "destructive calls are paused"
	LogResumed = "destructive calls are resumed"
)

// Bounds.
const (
	MaxSwitches = 100
	MaxWaits    = 4000 // more waits replace the oldest, which register again later
	MaxName     = 200
	MaxReason   = 500
	MaxBy       = 200
)

// Target is what a switch pauses: "all", "agent:NAME", "server:NAME" or "tool:NAME". An agent is
// the one that makes the call, or the one that the call delegates to.
type Target string

// All pauses every destructive call.
const All Target = "all"

// The kinds of other targets.
const (
	agent  = "agent"
	server = "server"
	tool   = "tool"
)

var errTarget = errors.New("must be all, agent:NAME, server:NAME or tool:NAME")

// Check fails for a target that no call can match.
func (t Target) Check() error {
	if t == All {
		return nil
	}
	kind, name, _ := strings.Cut(string(t), ":")
	switch {
	case name == "" || !slices.Contains([]string{agent, server, tool}, kind):
		return errTarget
	}
	return line(name, MaxName)
}

// String returns the target in words.
func (t Target) String() string {
	kind, name, _ := strings.Cut(string(t), ":")
	switch kind {
	case agent:
		return "agent " + name
	case server:
		return "tool server " + name
	case tool:
		return "tool " + name
	}
	return "everything"
}

// Call is what switches need to know of a destructive call.
type Call struct {
	// Agent makes the call; Peer is the agent that it delegates to, if it does.
	Agent  string `json:"agent,omitempty"`
	Peer   string `json:"peer,omitempty"`
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
}

// Holds reports whether a switch with the target pauses a call.
func (t Target) Holds(c Call) bool {
	kind, name, _ := strings.Cut(string(t), ":")
	if t == All || name == "" {
		return t == All
	}
	switch kind {
	case agent:
		return name == c.Agent || name == c.Peer
	case server:
		return name == c.Server
	case tool:
		return name == c.Tool
	}
	return false
}

// Switch pauses destructive calls until it is removed.
type Switch struct {
	What   Target    `json:"what"`
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"`
	Since  time.Time `json:"since"`
	// Identity is the proven caller. Without authentication, and for a signal that was typed, By
	// is the name that was claimed.
	Identity contract.Identity `json:"identity,omitzero"`
}

// Text returns why a call waits.
func (w Switch) Text() string {
	text := "destructive calls are paused for " + w.What.String()
	if w.By != "" {
		text += " by " + w.By
	}
	text += w.Since.UTC().Format(" since 2006-01-02 15:04:05 MST")
	if w.Reason != "" {
		text += ": " + w.Reason
	}
	return text
}

// State is the switches that are set, the oldest first.
type State struct {
	Switches []Switch `json:"switches"`
	// Limits are the rate limits that differ from their configuration.
	Limits []LimitChange `json:"limits,omitempty"`
}

// Holding returns the oldest switch that pauses a call.
func (s State) Holding(c Call) (Switch, bool) {
	i := slices.IndexFunc(s.Switches, func(w Switch) bool { return w.What.Holds(c) })
	if i < 0 {
		return Switch{}, false
	}
	return s.Switches[i], true
}

// Change sets or removes a switch. To set one that is set already changes nothing, and neither
// does it to remove one that is not set.
type Change struct {
	What     Target            `json:"what"`
	Reason   string            `json:"reason,omitempty"`
	By       string            `json:"by,omitempty"`
	Identity contract.Identity `json:"identity,omitzero"`
	// Proof proves the identity; see package proof.
	Proof string `json:"proof,omitempty"`
}

// Check fails for a change that cannot be made.
func (c Change) Check() error {
	if err := c.What.Check(); err != nil {
		return fmt.Errorf("what: %w", err)
	}
	if err := line(c.Reason, MaxReason); err != nil {
		return fmt.Errorf("reason: %w", err)
	}
	if err := line(c.By, MaxBy); err != nil {
		return fmt.Errorf("by: %w", err)
	}
	return nil
}

// line fails for a text that is longer than most bytes, or cannot be shown in one line.
func line(text string, most int) error {
	if len(text) > most {
		return fmt.Errorf("has more than %d bytes", most)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return errors.New("has a character that is not shown in a line")
	}
	return nil
}

// Wait registers an approval that waits until no switch pauses its call.
type Wait struct {
	Approval string `json:"approval"` // its UUID
	Call     Call   `json:"call"`
}

// Release tells an approval who has removed the last switch that paused its call. By is empty if
// there was none any more.
type Release struct {
	By       string            `json:"by,omitempty"`
	Identity contract.Identity `json:"identity,omitzero"`
}

// Input starts a Control. It is empty except for a run that continues another.
type Input struct {
	State
	Waits []Wait `json:"waits,omitempty"`
}

// View is the result of QueryControl.
type View struct {
	State
	// Waiting is the number of calls that have registered. A call that has been rejected since is
	// counted until the next resume.
	Waiting int `json:"waiting"`
	// Problem is why the last signal was ignored.
	Problem string `json:"problem,omitempty"`
}
