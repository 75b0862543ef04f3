package history

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Slots is how many conversations of one caller that have begun in the same way are found again
// without the memory of the finder.
const Slots = 32

// remembered is how many chats the finder remembers.
const rememberedChats = 10_000

// Finder finds the conversations of chats. It is safe for concurrent use.
type Finder struct {
	service *service.Service
	now     func() time.Time
	chats   *lru.Cache[string, string] // conversation IDs by the hash of owner and chat
	claims  sync.Mutex                 // guards changes of next
	next    *lru.Cache[string, int]    // the first slot that may be free, by seed
}

// NewFinder makes a Finder.
func NewFinder(s *service.Service, now func() time.Time) *Finder {
	chats, _ := lru.New[string, string](rememberedChats) // fails only for sizes below 1
	next, _ := lru.New[string, int](rememberedChats)
	return &Finder{service: s, now: now, chats: chats, next: next}
}

// Remember says that a conversation has come to the point that a client knows as a chat.
func (f *Finder) Remember(q Query, chat Chat, id string) { f.chats.Add(q.key(chat), id) }

func (f *Finder) remembered(q Query) []string {
	if id, ok := f.chats.Get(q.key(q.Past)); ok && len(q.Past) > 0 {
		return []string{id}
	}
	return nil
}

func (f *Finder) knows(q Query, id string) bool {
	known, ok := f.chats.Peek(q.key(q.Past))
	return ok && known == id && len(q.Past) > 0
}

func (q Query) key(c Chat) string { return q.owner() + " " + c.hash() }

// owner says whose chats are meant. Without authentication it is what tells callers apart.
func (q Query) owner() string {
	return contract.Hash([]byte(Owner(q.Caller) + "\n" + q.Space))
}

// Owner returns who a caller is, as far as that is known: by identity, otherwise by token and
// session.
func Owner(c service.Caller) string {
	if c.Authenticated() {
		return c.Own("")
	}
	session := ""
	if c.OwnSession {
		session = c.Session
	}
	return contract.Hash([]byte(c.Token)) + " " + session
}

// seed identifies how a conversation begins: with the user's message at an index of the chat, after
// what was said before it.
func (q Query) seed(at int) string {
	chat := q.Past
	if at == len(q.Past) {
		chat = chat[:at:at].Add(true, q.Text)
	} else {
		chat = chat[:at+1]
	}
	return q.key(chat)
}

func (f *Finder) slot(ctx context.Context, q Query, seed string, n int) (string, error) {
	return f.service.OwnID(ctx, "chat", fmt.Sprintf("%s %d", seed, n))
}

// Start starts the conversation of a chat that has none yet. begin makes the request for an ID; it
// gets the result of the service.
func (f *Finder) Start(ctx context.Context, q Query, begin func(id string) (service.StartedConversation, error)) (id string, err error) {
	seed := q.seed(len(q.Past))
	if id, err = f.startInSlot(ctx, q, seed, begin); id != "" || err != nil {
		return id, err
	}
	if id = uuid.NewString(); q.Key != "" {
		if id, err = f.service.OwnID(ctx, "chat", seed+" key "+q.Key); err != nil {
			return "", err
		}
	}
	_, err = begin(id)
	return id, err
}

// startInSlot starts the conversation in the first slot that is free, or returns "". A request with a key may have
// one already.
func (f *Finder) startInSlot(ctx context.Context, q Query, seed string, begin func(id string) (service.StartedConversation, error)) (string, error) {
	fingerprint := q.Fingerprint()
	for n := range Slots {
		if q.Key == "" {
			if n = f.claim(seed); n == Slots {
				break
			}
		}
		id, err := f.slot(ctx, q, seed, n)
		if err != nil {
			f.unclaim(seed, n)
			return "", err
		}
		started, err := begin(id)
		switch {
		case service.IsKind(err, deletion.KindDeleted):
			continue
		case err != nil:
			f.unclaim(seed, n)
			return "", err
		case !started.Existed || q.Key != "" && started.Fingerprint == fingerprint:
			return id, nil
		}
	}
	return "", nil
}

// claim returns the first slot that may be free, and nobody else here gets it. Chats that begin alike at once would
// otherwise try slot after slot, and only one of them would win each.
func (f *Finder) claim(seed string) int {
	f.claims.Lock()
	defer f.claims.Unlock()
	n, _ := f.next.Get(seed)
	f.next.Add(seed, min(n+1, Slots))
	return n
}

// unclaim gives a slot back, because searches end at the first one that is free.
func (f *Finder) unclaim(seed string, n int) {
	f.claims.Lock()
	defer f.claims.Unlock()
	if next, ok := f.next.Get(seed); ok && n < next {
		f.next.Add(seed, n)
	}
}

// Fingerprint identifies the request with the message among those that start the same conversation.
func (q Query) Fingerprint() string {
	if q.Key == "" {
		return contract.Hash([]byte(uuid.NewString()))[:16]
	}
	return contract.Hash([]byte(q.owner() + "\n" + q.Key + "\n" + q.Past.Add(true, q.Text).hash()))[:16]
}
