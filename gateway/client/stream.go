package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"net/http"
	"syscall"
)

// File is a file that comes with a message: an image, a PDF, or a text in UTF-8.
type File struct {
	Name string `json:"name"`
	// MediaType is found by the content if it is empty.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data"`
}

// NewMessage is a message to send.
type NewMessage struct {
	Message string `json:"message,omitempty"`
	Files   []File `json:"files,omitempty"`
	// Model answers it, and with KeepModel all later messages too; "" is the model of the
	// conversation.
	Model     string `json:"model,omitempty"`
	KeepModel bool   `json:"keep_model,omitempty"`
}

// Send sends a message and returns the events of its turn, up to the one that ends its run. An
// empty id starts a conversation; the first event names it. Approvals that wait then are the
// outcome of the run. The turn goes on when the reader stops reading.
func (c *Client) Send(ctx context.Context, id string, message NewMessage) iter.Seq2[Event, error] {
	s := &stream{client: c, conversation: id, ends: Event.Ends, first: request{
		method: http.MethodPost, path: messagePath(id), body: message,
		header: []string{"Accept", eventStream, "Idempotency-Key", rand.Text()},
	}}
	return s.events(ctx)
}

// Post sends a message and does not wait for its turn. An empty id starts a conversation. It
// returns the ID of the conversation.
func (c *Client) Post(ctx context.Context, id string, message NewMessage) (conversation string, err error) {
	var out struct {
		ConversationID string       `json:"conversation_id"`
		Conversation   Conversation `json:"conversation"` // when the turn has ended already
	}
	_, err = c.post(ctx, messagePath(id), message, &out, "Prefer", "respond-async")
	return cmp.Or(out.ConversationID, out.Conversation.ID, id), err
}

func messagePath(id string) string {
	if id == "" {
		return "/conversations"
	}
	return conversationPath(id) + "/messages"
}

// Follow returns the events of a conversation after a position, which is the ID of an event or
// empty, until the conversation is completed.
func (c *Client) Follow(ctx context.Context, id, after string) iter.Seq2[Event, error] {
	s := &stream{client: c, conversation: id, position: after, ends: func(Event) bool { return false }}
	return s.events(ctx)
}

// Rest returns the events after a position until a run ends: the rest of a turn that goes on.
func (c *Client) Rest(ctx context.Context, id, after string) iter.Seq2[Event, error] {
	s := &stream{client: c, conversation: id, position: after, ends: Event.Ends}
	return s.events(ctx)
}

const eventStream = "text/event-stream"

// stream reads events over as many connections as it takes.
type stream struct {
	client       *Client
	conversation string
	// position is the ID of the last event that was read.
	position string
	// first is the request of the first connection; without one it is like all others.
	first request
	// ends reports whether the stream ends with an event.
	ends func(Event) bool
	// connected means that there were events.
	connected bool
}

func (s *stream) events(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for failed := 0; ; failed++ {
			progress, done, err := s.connect(ctx, yield)
			if done {
				return
			}
			if progress {
				failed, s.connected = 0, true
			}
			if s.connected && s.position != "" && StatusOf(err) == http.StatusBadRequest { // it is from another time
				s.position, s.first = "", request{}
				continue
			}
			if !s.mayResume(err, failed) || !s.client.wait(ctx, failed) {
				yield(Event{}, cmp.Or(ctx.Err(), err))
				return
			}
		}
	}
}

// connect reads the events of one connection. Progress means that there were some; done, that
// nothing follows. Otherwise there is an error.
func (s *stream) connect(ctx context.Context, yield func(Event, error) bool) (progress, done bool, err error) {
	watched, dog := watch(ctx, silence)
	defer dog.stop()
	res, err := s.client.do(watched, s.next())
	if err != nil {
		return false, false, dog.explain(ctx, err)
	}
	defer res.Body.Close()
	ended := false
	err = readEvents(dog.reader(res.Body), func(e Event) bool {
		progress = true
		s.take(e)
		if e.mustReconnect() {
			return false
		}
		wanted := yield(e, nil)
		ended = wanted && s.ends(e)
		done = !wanted || ended
		return !done
	})
	if ended && res.Request.Method == http.MethodPost {
		_, _ = io.Copy(io.Discard, res.Body) // the reply ends now; one that is left unread looks like a lost client
	}
	if errors.Is(err, io.EOF) && !done && s.conversation != "" {
		done = s.client.isCompleted(ctx, s.conversation)
	}
	return progress, done, dog.explain(ctx, cmp.Or(err, io.EOF))
}

// isCompleted reports whether nothing will happen in a conversation any more.
func (c *Client) isCompleted(ctx context.Context, id string) bool {
	var t Turn
	err := c.get(ctx, conversationPath(id), &t)
	return err == nil && t.Conversation.Status == StatusCompleted
}

// take remembers what a later connection needs.
func (s *stream) take(e Event) {
	if e.ID != "" {
		s.position = e.ID
	}
	if e.ThreadID != "" {
		s.conversation = e.ThreadID
	}
}

// next returns the request of the next connection. The first one is repeated until it has shown
// an event.
func (s *stream) next() request {
	if s.first.method != "" && s.position == "" {
		return s.first
	}
	r := request{method: http.MethodGet, path: conversationPath(s.conversation) + "/events", header: []string{"Accept", eventStream}}
	if s.position != "" {
		r.header = append(r.header, "Last-Event-ID", s.position)
	}
	return r
}

// patience is how often a stream that had events tries to get more: for some minutes.
const patience = 40

// mayResume reports whether another connection may succeed after so many that failed.
func (s *stream) mayResume(err error, failed int) bool {
	status := StatusOf(err)
	switch {
	case errors.Is(err, errNoEvent), errors.Is(err, bufio.ErrTooLong):
		return false
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout, s.connected && status == 0:
		return failed < patience
	case status == 0:
		return failed < attempts && !isRefused(err)
	}
	return failed < attempts && isTransient(err)
}

// isRefused reports whether nothing listens at the address.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
