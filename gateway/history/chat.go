package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Mark begins the part of a reply that the gateway has added to what the agent said, such as a card
// about an approval. It goes on to the end of the reply.
const Mark = "⏸ Approval needed"

// Unsent begins a reply to a message that was not sent, because something waits. Neither of them is
// part of the chat.
const Unsent = "⏸ Your message was not sent"

// Message is what one side has said until the other one did.
type Message struct {
	// User: the user has said it, otherwise the agent.
	User bool
	Text string
}

// Chat is what was said, the user and the agent in turn.
type Chat []Message

// Add returns the chat with what a side says next, as Append.
func (c Chat) Add(user bool, text string) Chat {
	c = slices.Clone(c)
	c.Append(user, text)
	return c
}

// Append appends what a side says next. Spaces are folded, and what a reply has from Mark on is
// dropped. A reply in which nothing else is said keeps apart what the user says before and after it.
func (c *Chat) Append(user bool, text string) {
	last := len(*c) - 1
	if !user {
		if strings.HasPrefix(strings.TrimSpace(text), Unsent) && last >= 0 && (*c)[last].User {
			*c = (*c)[:last]
			return
		}
		text, _, _ = strings.Cut(text, Mark)
	}
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case last >= 0 && (*c)[last].User == user:
		(*c)[last].Text = strings.TrimSpace((*c)[last].Text + " " + text)
	case text != "" || !user && last >= 0:
		*c = append(*c, Message{user, text})
	}
}

// said returns the chat without a reply at its end in which nothing was said yet.
func (c Chat) said() Chat {
	if last := len(c) - 1; last >= 0 && c[last] == (Message{}) {
		return c[:last]
	}
	return c
}

// Of returns the chat that the entries of a conversation are.
func Of(entries []record.Entry) Chat {
	var c Chat
	for _, e := range entries {
		switch e.Kind {
		case record.KindMessage:
			c.Append(false, "") // also if nothing was said to the one before
			c.Append(true, e.Text)
		case record.KindText:
			c.Append(false, Text(e))
		}
	}
	return c
}

// Text returns what the agent says in an entry, without the name of the node.
func Text(e record.Entry) string {
	if e.Kind == record.KindText && e.Node != "" && e.Reply == "" {
		return strings.TrimPrefix(e.Text, "["+e.Node+"] ")
	}
	return e.Text
}

// told returns the entries without the turns of which nothing was told but that the model failed: their clients got an
// error, which is in no chat.
func told(entries []record.Entry) (out []record.Entry) {
	begin, failed, said := 0, false, false
	end := func() {
		if failed && !said {
			out = out[:begin]
		}
	}
	for _, e := range entries {
		switch {
		case e.Kind == record.KindMessage:
			end()
			begin, failed, said = len(out), false, false
		case e.ModelFailed():
			failed = true
		case e.Kind == record.KindText:
			said = said || Text(e) != ""
		}
		out = append(out, e)
	}
	end()
	return out
}

// goesOn reports whether a chat goes on with what was said in entries, as they are or as they were told.
func (c Chat) goesOn(entries []record.Entry) bool {
	return c.ends(Of(entries)) || c.ends(Of(told(entries)))
}

// hash identifies a chat.
func (c Chat) hash() string {
	h := sha256.New()
	for _, m := range c.said() {
		fmt.Fprintf(h, "%t %d\n%s\n", m.User, len(m.Text), m.Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// ends reports whether other is the end of the chat. The client may have stopped reading the last
// reply.
func (c Chat) ends(other Chat) bool {
	c, other = c.said(), other.said()
	if len(other) == 0 || len(other) > len(c) {
		return false
	}
	tail := c[len(c)-len(other):]
	last := len(tail) - 1
	return slices.Equal(tail[:last], other[:last]) && tail[last].User == other[last].User &&
		(tail[last] == other[last] || !tail[last].User && strings.HasPrefix(other[last].Text, tail[last].Text))
}

// Context returns the chat as a text for the model of a conversation that goes on with it, "" for
// an empty one.
func (c Chat) Context() string {
	if len(c) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("[context] The client says that this was said before, in another conversation:\n")
	for _, m := range c {
		if m.Text == "" {
			continue
		}
		who := "assistant"
		if m.User {
			who = "user"
		}
		fmt.Fprintf(&b, "%s: %q\n", who, m.Text)
	}
	return b.String() + "\n"
}

// lastMessage returns the last message of the user in a conversation, the entries before it, and the number of messages.
func lastMessage(s *record.State) (last record.Entry, before []record.Entry, messages int) {
	entries, at := s.Entries(), -1
	for i, e := range entries {
		if e.Kind == record.KindMessage {
			at = i
			messages++
		}
	}
	if at < 0 {
		return last, nil, 0
	}
	return entries[at], entries[:at], messages
}

// same reports whether a message is the text of an entry.
func same(e record.Entry, text string) bool {
	return slices.Equal(Chat(nil).Add(true, e.Text), Chat(nil).Add(true, text))
}

// over reports whether nobody can write to a conversation any more.
func over(v contract.ConversationView) bool { return v.Status == contract.StatusCompleted }
