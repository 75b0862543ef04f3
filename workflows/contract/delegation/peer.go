// Package delegation describes the agents that work is delegated to, and the dialogues with them.
//
// A dialogue is a sequence of tasks in one context of the other agent (A2A 1.0 §3.4): each task
// continues the one that ended before it. A task that has ended takes no more messages, so the next
// one is a new task in the same context that references it. A peer with Context conversation has
// dialogues; with others every delegation starts anew.
//
// A conversation has one dialogue with each URL, and each branch of a parallel node has dialogues
// of its own (Place). While a task of a dialogue runs, another call of the same URL in the same
// place starts anew and is no part of the dialogue, so two tasks never continue the same one.
package delegation

import (
	"strings"
	"time"
)

// Peer is another agent that work is delegated to.
type Peer struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
	// Destructive means that a person approves every delegation.
	Destructive bool `json:"destructive,omitempty"`
	// Timeout limits the working time of a task, without waiting for people. Zero means
	// DefaultTimeout.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Context is ContextConversation, or "" for tasks that do not continue one another.
	Context string `json:"context,omitempty"`
}

// ContextConversation means that a task continues the one before it in the conversation.
const ContextConversation = "conversation"

// ContextOf returns the Context for a setting, of which "call" is the default.
func ContextOf(setting string) string {
	if setting == "call" {
		return ""
	}
	return setting
}

// DefaultTimeout limits the working time of a task of another agent.
const DefaultTimeout = time.Hour

// Patience returns Timeout, or its default.
func (p Peer) Patience() time.Duration {
	if p.Timeout <= 0 {
		return DefaultTimeout
	}
	return p.Timeout
}

// Tool returns the name of the tool that delegates to the peer.
func (p Peer) Tool() string { return "a2a_" + p.Name }

// Purpose is the description for a model, which also says what the agent remembers.
func (p Peer) Purpose() string {
	if p.Context != ContextConversation {
		return p.Description
	}
	return strings.TrimSpace(p.Description + " It remembers the tasks that you gave it before in this conversation.")
}
