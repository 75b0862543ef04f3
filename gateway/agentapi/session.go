package agentapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/shortid"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// maxSlots is how many conversations a client_id may have one after the other.
const maxSlots = 1000

// session is the conversation that a client_id means now.
type session struct {
	client string
	id     string
	slot   int
	// exists is false before the first message. fixed: the client names a conversation, and not a
	// session of its own.
	exists, fixed bool
	// fresh: it has begun here a moment ago, and was not read.
	fresh bool
	// view is the conversation, if it was read.
	view contract.ConversationView
}

const clientPrefix = "api-"

// newClient returns the client_id of a client that has none.
func newClient() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand.Read
	return clientPrefix + hex.EncodeToString(b[:])
}

// idOf returns the ID of the conversation of a client_id in a slot.
func (e *Endpoint) idOf(c service.Caller, client string, slot int) string {
	return e.Service.NamedID("session", fmt.Sprintf("%s %d", c.Own(client), slot))
}

// find returns the session of a client_id.
func (e *Endpoint) find(ctx context.Context, c service.Caller, client string) (session, error) {
	if id, ok, err := e.named(ctx, c, client); ok || err != nil {
		if err != nil {
			return session{}, err
		}
		view, err := e.Service.Conversation(ctx, id, "")
		return session{client: client, id: id, exists: true, fixed: true, view: view}, err
	}
	key := c.Own(client)
	slot, known := e.slots.Get(key)
	for ; slot < maxSlots; slot++ {
		s := session{client: client, id: e.idOf(c, client, slot), slot: slot}
		view, err := e.Service.Conversation(ctx, s.id, "")
		switch {
		case service.IsKind(err, deletion.KindDeleted), err == nil && view.Status == contract.StatusCompleted:
			continue
		case service.IsKind(err, contract.KindNotFound) && !known && slot == 0 && contract.IsUUID(client):
			return e.elsewhere(ctx, s)
		case service.IsKind(err, contract.KindNotFound) && !known:
			return e.later(ctx, c, s)
		case service.IsKind(err, contract.KindNotFound):
			return s, nil
		case err != nil:
			return s, err
		}
		s.exists, s.view = true, view
		e.slots.Add(key, slot)
		return s, nil
	}
	return session{}, service.Errorf(contract.KindCompleted, "the client_id has had %d conversations; take another one", maxSlots)
}

// later returns the session in a later slot, or s: the conversations of earlier slots are removed when they
// have ended long enough. It looks among the newest conversations that the caller has.
func (e *Endpoint) later(ctx context.Context, c service.Caller, s session) (session, error) {
	items, err := e.open(ctx)
	if err != nil {
		return s, err
	}
	key := c.Own(s.client)
	for _, item := range items {
		for slot := s.slot + 1; item.SessionID == s.client && slot < maxSlots; slot++ {
			if e.idOf(c, s.client, slot) != item.ID {
				continue
			}
			view, err := e.Service.Conversation(ctx, item.ID, "")
			switch {
			case isGone(err), err == nil && view.Status == contract.StatusCompleted:
				continue
			case err == nil:
				e.slots.Add(key, slot)
			}
			return session{client: s.client, id: item.ID, slot: slot, exists: err == nil, view: view}, err
		}
	}
	return s, nil
}

// elsewhere returns the session of a client_id that may be the UUID of a conversation that has begun
// elsewhere. s is the session that it is otherwise.
func (e *Endpoint) elsewhere(ctx context.Context, s session) (session, error) {
	view, err := e.Service.Conversation(ctx, s.client, "")
	switch {
	case isGone(err), err == nil && view.Status == contract.StatusCompleted:
		return s, nil
	case err != nil:
		return s, err
	}
	return session{client: s.client, id: s.client, exists: true, fixed: true, view: view}, nil
}

// named returns the conversation of a shorthand_id or a short ID. ok is false for any other client_id.
func (e *Endpoint) named(ctx context.Context, c service.Caller, client string) (id string, ok bool, err error) {
	switch {
	case client != "" && strings.Trim(client, "0123456789") == "":
		n, err := strconv.Atoi(client)
		if err != nil || e.Numbers == nil {
			return "", true, noSession()
		}
		if id, err = e.Numbers.Find(ctx, c, n); err == nil && id == "" {
			err = noSession()
		}
		return id, true, err
	case strings.HasPrefix(client, "#"):
		id, err = shortid.Resolve(ctx, e.Service, client)
		return id, true, err
	case !contract.ValidSessionID(client):
		return "", true, invalid("client_id: expected 1 to 64 letters, digits, '.', '_' and '-'")
	}
	return "", false, nil
}

// last returns the session of a client_id as it was a moment ago, without asking.
func (e *Endpoint) last(c service.Caller, client string) (session, bool) {
	slot, ok := e.slots.Get(c.Own(client))
	return session{client: client, id: e.idOf(c, client, slot), slot: slot, exists: true}, ok
}

// clientOf returns the client_id of a conversation of a caller's list.
func (e *Endpoint) clientOf(c service.Caller, item service.Item) string {
	const likely = 16 // further ones are known by their UUIDs
	for slot := range likely {
		if contract.ValidSessionID(item.SessionID) && e.idOf(c, item.SessionID, slot) == item.ID {
			return item.SessionID
		}
	}
	return item.ID
}
