package access

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/gateway/service"
)

// maxKept is the number of conversations and approvals of which the owner is kept.
const maxKept = 10_000

// owners keeps the keys of owners.
type owners struct {
	backend       service.Backend
	conversations *lru.Cache[string, string]
	approvals     *lru.Cache[string, service.Subject]
}

func newOwners(b service.Backend) owners {
	conversations, _ := lru.New[string, string](maxKept) // fails only for sizes below 1
	approvals, _ := lru.New[string, service.Subject](maxKept)
	return owners{b, conversations, approvals}
}

// ofConversation returns the key of an owner: "" for a conversation without one.
func (o owners) ofConversation(ctx context.Context, id string) (string, error) {
	if key, ok := o.conversations.Get(id); ok {
		return key, nil
	}
	key, err := o.backend.Owner(ctx, id)
	if err == nil {
		o.conversations.Add(id, key)
	}
	return key, err
}

func (o owners) ofApproval(ctx context.Context, uuid string) (service.Subject, error) {
	if s, ok := o.approvals.Get(uuid); ok {
		return s, nil
	}
	s, err := o.backend.Subject(ctx, uuid)
	if err == nil {
		o.approvals.Add(uuid, s)
	}
	return s, err
}
