package history

import (
	"context"
	"fmt"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/record"
)

// Query asks for the conversation of a chat.
type Query struct {
	Caller service.Caller
	// Space separates chats that have nothing to do with each other: those of other agents, of
	// other people of the same caller, or with another ID of the client.
	Space string
	// Past is the chat before the message that the client sends now, which is Text.
	Past Chat
	Text string
	// Key is the idempotency key of the request, or "". Again: the client says that it sends the
	// request once more because it got no answer.
	Key   string
	Again bool
}

// Found is the conversation of a chat.
type Found struct {
	ID string
	// State is nil for a new conversation. Nothing was started yet then: Start does that.
	State *record.State
	// Repeated is the entry of the message, if it was sent before.
	Repeated *record.Entry
}

// retried is how old a message may be that a client sends again by itself.
const retried = 15 * time.Minute

// beginnings is how many messages of the user are tried as the first one of a conversation: each is a
// read. Chats of more are found by memory.
const beginnings = 64

// Find returns the conversation of a chat.
func (f *Finder) Find(ctx context.Context, q Query) (Found, error) {
	for _, id := range f.remembered(q) {
		if found, ok, err := f.try(ctx, q, id); ok || err != nil {
			return found, err
		}
	}
	tried := 0
	for at, m := range q.Past { // the longest part of the chat first
		if !m.User {
			continue
		}
		if tried++; tried > beginnings {
			break
		}
		if found, ok, err := f.search(ctx, q, at); ok || err != nil {
			return found, err
		}
	}
	if q.Again || q.Key != "" {
		found, _, err := f.search(ctx, q, len(q.Past))
		return found, err
	}
	return Found{}, nil
}

// search tries the conversations that have begun with the user's message at an index of the chat. Of
// those that have begun with the message that the client sends again, it is the newest one, unless
// the key of the request says which.
func (f *Finder) search(ctx context.Context, q Query, at int) (newest Found, ok bool, err error) {
	seed, first := q.seed(at), at == len(q.Past)
	for n := range Slots {
		id, err := f.slot(ctx, q, seed, n)
		if err != nil {
			return Found{}, false, err
		}
		view, err := f.service.Conversation(ctx, id, "")
		switch {
		case service.IsKind(err, deletion.KindDeleted):
			continue
		case service.IsKind(err, contract.KindNotFound):
			return newest, ok, nil
		case err != nil:
			return Found{}, false, err
		}
		found, fits, err := f.fits(ctx, q, view, first)
		switch {
		case err != nil:
			return Found{}, false, err
		case fits && (!first || q.Key != ""):
			return found, true, nil
		case fits:
			newest, ok = found, true
		}
	}
	return newest, ok, nil
}

// try reads a conversation that the finder remembers.
func (f *Finder) try(ctx context.Context, q Query, id string) (Found, bool, error) {
	view, err := f.service.Conversation(ctx, id, "")
	switch {
	case service.IsKind(err, deletion.KindDeleted), service.IsKind(err, contract.KindNotFound):
		return Found{}, false, nil
	case err != nil:
		return Found{}, false, err
	}
	return f.fits(ctx, q, view, false)
}

// fits reports whether a conversation is that of the chat. first: it has begun with the message that
// the client sends now.
func (f *Finder) fits(ctx context.Context, q Query, view contract.ConversationView, first bool) (Found, bool, error) {
	state, err := f.service.Record(ctx, view)
	if err != nil {
		return Found{}, false, err
	}
	found := Found{ID: view.ID, State: state}
	last, before, messages := lastMessage(state)
	if first != (messages > 1) && messages > 0 && q.repeats(state, last, before, f.now()) {
		found.Repeated = &last
		return found, true, nil
	}
	if first || over(view) {
		return Found{}, false, nil
	}
	said := state.Entries()
	return found, q.Past.goesOn(said) || f.knows(q, view.ID) && q.Past.begins(Of(told(said))), nil
}

// repeats reports whether the last message of a conversation is the one that the client sends now.
func (q Query) repeats(s *record.State, last record.Entry, before []record.Entry, now time.Time) bool {
	if !same(last, q.Text) {
		return false
	}
	if q.Key != "" {
		return last.ClientID() == q.requestID(s.View.ID, 0)
	}
	return q.Again && now.Sub(last.CreatedAt) < retried && (len(told(before)) == 0 || q.Past.goesOn(before))
}

// begins reports whether the user has said the same in both chats, so that only the form of a reply
// differs, such as that of parallel nodes which was streamed in another order.
func (c Chat) begins(said Chat) bool {
	var a, b []string
	for _, m := range c {
		if m.User {
			a = append(a, m.Text)
		}
	}
	for _, m := range said {
		if m.User {
			b = append(b, m.Text)
		}
	}
	if len(b) == 0 || len(b) > len(a) {
		return false
	}
	for i, text := range b {
		if a[len(a)-len(b)+i] != text {
			return false
		}
	}
	return true
}

// RequestID returns the ID of the request with the message: the same when it is sent again. The same words after other
// messages are another request, such as a second "yes" in a conversation that the client names, or a person's next try
// after the model has failed.
func (q Query) RequestID(found Found) string {
	if found.Repeated != nil {
		return found.Repeated.ClientID()
	}
	messages := 0
	if found.State != nil {
		_, _, messages = lastMessage(found.State)
	}
	return q.requestID(found.ID, messages)
}

// requestID returns the ID of the request with the message behind a number of messages.
func (q Query) requestID(conversationID string, messages int) string {
	if q.Key != "" {
		return contract.NameUUID(conversationID, "chat key "+q.owner()+" "+q.Key)
	}
	return contract.NameUUID(conversationID, fmt.Sprintf("chat %s %s %d", q.owner(), q.Past.Add(true, q.Text).hash(), messages))
}

// Named returns a conversation that the client has named, whatever its chat is.
func (q Query) Named(s *record.State, now time.Time) Found {
	found := Found{ID: s.View.ID, State: s}
	last, _, messages := lastMessage(s)
	repeated := q.Again && same(last, q.Text) && now.Sub(last.CreatedAt) < retried
	if q.Key != "" {
		repeated = last.ClientID() == q.requestID(s.View.ID, 0)
	}
	if messages > 0 && repeated {
		found.Repeated = &last
	}
	return found
}
