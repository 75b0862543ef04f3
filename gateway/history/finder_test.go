package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// shelf is a Backend that keeps conversations, and answers every message at once.
type shelf struct {
	service.Backend
	views  map[string]contract.ConversationView
	owners map[string]string
	prints map[string]string
}

func newShelf() *shelf {
	return &shelf{views: map[string]contract.ConversationView{}, owners: map[string]string{}, prints: map[string]string{}}
}

func (s *shelf) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	id := in.Conversation.ID
	if _, ok := s.views[id]; ok {
		return service.StartResult{Existed: true, Fingerprint: s.prints[id]}, nil
	}
	s.prints[id] = in.Fingerprint
	s.views[id] = contract.ConversationView{ID: id, Status: contract.StatusActive}
	s.take(id, *in.Conversation.First)
	return service.StartResult{}, nil
}

func (s *shelf) take(id string, m contract.MessageSignal) {
	v := s.views[id]
	n := len(v.Transcript.Tail)
	v.Transcript.Tail = append(v.Transcript.Tail,
		contract.Message{ID: fmt.Sprint(n), Role: contract.RoleUser, Content: m.Text, Preface: m.Preface, DraftID: m.Name, CreatedAt: time.Now()},
		contract.Message{ID: fmt.Sprint(n + 1), Role: contract.RoleAssistant, Content: contract.Inline("so " + m.Text.Inline[m.Preface:])})
	s.views[id] = v
}

func (s *shelf) Conversation(_ context.Context, id, _ string) (contract.ConversationView, error) {
	v, ok := s.views[id]
	if !ok {
		return v, service.NoConversation(id)
	}
	return v, nil
}

type noBlobs struct{ transcript.Store }

// client sends messages as a chat client does, with everything that was said before.
type client struct {
	t      *testing.T
	shelf  *shelf
	finder *history.Finder
	s      *service.Service
	caller service.Caller
	space  string
	chat   history.Chat
}

func (c *client) send(text string) (id string) {
	c.t.Helper()
	q := history.Query{Caller: c.caller, Space: c.space, Past: c.chat, Text: text}
	found, err := c.finder.Find(c.t.Context(), q)
	if err != nil {
		c.t.Fatal(err)
	}
	message := service.Message{Text: text}
	if found.State == nil {
		message.Preface = c.chat.Context()
		id, err = c.finder.Start(c.t.Context(), q, func(id string) (service.StartedConversation, error) {
			found.ID = id
			return c.s.Start(c.t.Context(), c.caller, service.NewConversation{Request: service.Request{ConversationID: id, ID: q.RequestID(found), Fingerprint: q.Fingerprint()}, Message: &message})
		})
		if err != nil {
			c.t.Fatal(err)
		}
		c.shelf.owners[id] = c.caller.Identity.Subject + c.caller.Session + c.space
	} else {
		id = found.ID
		c.shelf.take(id, contract.MessageSignal{Text: contract.Inline(text), Name: q.RequestID(found)})
	}
	c.chat = c.chat.Add(true, text).Add(false, "so "+text)
	if rand.IntN(2) == 0 { // another gateway does not know it
		c.finder.Remember(q, c.chat, id)
	}
	return id
}

// People who say the same words, with keys of their own or sessions, each have conversations of
// their own, whatever the clients do with their histories. What was said in a conversation is what
// its client knows.
func TestTwoPeopleNeverShareAConversation(t *testing.T) {
	for range 20 {
		shelf := newShelf()
		s := service.New(service.Options{Backend: shelf, Blobs: noBlobs{}})
		defer s.Close()
		var people []*client
		for n := range 5 {
			c := &client{t: t, shelf: shelf, s: s, finder: history.NewFinder(s, time.Now)}
			if n > 0 {
				c.finder = people[0].finder
			}
			switch n {
			case 0, 1:
				c.caller = service.Caller{Identity: contract.Identity{Subject: fmt.Sprint("p", n), Issuer: "i"}}
			case 2, 3:
				c.caller = service.Caller{Session: fmt.Sprint("s", n), OwnSession: true}
			default:
				c.caller, c.space = service.Caller{Session: "s2", OwnSession: true}, "another"
			}
			people = append(people, c)
		}
		for range 60 {
			c := people[rand.IntN(len(people))]
			switch rand.IntN(6) {
			case 0:
				c.chat = nil // a new chat
			case 1:
				c.chat = c.chat[:rand.IntN(len(c.chat)+1)/2*2] // back
			}
			before := c.chat
			id := c.send([]string{"hi", "more", "again"}[rand.IntN(3)])
			if owner := c.caller.Identity.Subject + c.caller.Session + c.space; shelf.owners[id] != owner {
				t.Fatalf("%q writes in a conversation of %q", owner, shelf.owners[id])
			}
			view := shelf.views[id]
			said := view.Transcript.Tail[:len(view.Transcript.Tail)-2]
			if len(said) > len(before) {
				t.Fatalf("the client knows %v, the conversation has %v", before, said)
			}
			for i, m := range said {
				if known := before[len(before)-len(said)+i].Text; m.Content.Inline[m.Preface:] != known {
					t.Fatalf("the client knows %q, the conversation has %q", known, m.Content.Inline)
				}
			}
		}
	}
}

func TestAChatIsFoundWithoutMemory(t *testing.T) {
	shelf := newShelf()
	s := service.New(service.Options{Backend: shelf, Blobs: noBlobs{}})
	defer s.Close()
	c := &client{t: t, shelf: shelf, s: s}
	c.finder = history.NewFinder(s, time.Now)
	first := c.send("hi")
	for _, text := range []string{"more", "and more"} {
		c.finder = history.NewFinder(s, time.Now)
		if id := c.send(text); id != first {
			t.Errorf("%s: another conversation", text)
		}
	}
	c.chat = c.chat[:2]
	fork := c.send("something else")
	c.finder = history.NewFinder(s, time.Now)
	if id := c.send("goes on"); fork == first || id != fork {
		t.Errorf("%s, then %s, of %s", fork, id, first)
	}
	if tail := shelf.views[fork].Transcript.Tail[0]; !strings.Contains(tail.Content.Inline[:tail.Preface], `user: "hi"`) {
		t.Errorf("%q", tail.Content.Inline)
	}
}

// Of chats that begin with the same words, a client repeats the last one.
func TestABeginningThatIsSentAgainIsTheNewest(t *testing.T) {
	shelf := newShelf()
	s := service.New(service.Options{Backend: shelf, Blobs: noBlobs{}})
	defer s.Close()
	c := &client{t: t, shelf: shelf, s: s, finder: history.NewFinder(s, time.Now)}
	first := c.send("hi")
	c.chat = nil
	second := c.send("hi")
	found, err := c.finder.Find(t.Context(), history.Query{Text: "hi", Again: true})
	if err != nil || found.ID != second || first == second || found.Repeated == nil {
		t.Errorf("%q, expected %q behind %q: %v", found.ID, second, first, err)
	}
	if found, err := c.finder.Find(t.Context(), history.Query{Text: "hi", Again: true, Key: "of a request that never arrived"}); err != nil || found.State != nil {
		t.Errorf("with a key of its own it is taken for %q: %v", found.ID, err)
	}
}

func TestWhatTheGatewayAddsIsNoPartOfAChat(t *testing.T) {
	c := history.Chat(nil).Add(true, "drop").Add(false, "I will.\n\n"+history.Mark+": `drop`").Add(true, "and?").Add(false, history.Unsent+", because").Add(false, "done")
	if len(c) != 2 || c[0].Text != "drop" || c[1].Text != "I will. done" {
		t.Errorf("%+v", c)
	}
	c = history.Chat(nil).Add(true, "drop").Add(false, history.Mark).Add(true, "list")
	if len(c) != 3 {
		t.Errorf("%+v", c)
	}
}
