package client

import (
	"context"
	"strings"
)

// Command is what a person has written in a chat.
type Command struct {
	Text string `json:"text"`
	// ConversationID is the conversation that the chat is in, "" before its first message.
	ConversationID string `json:"conversation_id,omitempty"`
	// Shown are the UUIDs of the approvals that the chat shows.
	Shown []string `json:"shown,omitempty"`
	// By is who decides or cancels, for the record.
	By string `json:"by,omitempty"`
}

// CommandReply says what a chat does next.
type CommandReply struct {
	// Command is the command that was carried out, the last of several, "" for a message alone.
	Command string `json:"command,omitempty"`
	// Text is the answer to the person.
	Text string `json:"text,omitempty"`
	// Message is to be sent in ConversationID, after Text was shown.
	Message *CommandMessage `json:"message,omitempty"`
	// Model is sent with the next message, which keeps it.
	Model string `json:"model,omitempty"`
	// ConversationID is the conversation in which the chat goes on, "" for a new one.
	ConversationID string `json:"conversation_id"`
}

// CommandMessage is a message that is not a command.
type CommandMessage struct {
	Text  string `json:"text"`
	Model string `json:"model,omitempty"`
}

// IsCommand reports whether a text is given to Command rather than sent.
func IsCommand(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "!") || strings.HasPrefix(text, "@")
}

// Command carries out a command of a chat, or returns the message that a text is.
func (c *Client) Command(ctx context.Context, in Command) (out CommandReply, err error) {
	_, err = c.post(ctx, "/commands", in, &out)
	return out, err
}
