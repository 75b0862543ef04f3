package access

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// maxKept is the number of conversations and approvals of which the owner is kept. An approval
// with a schema of more than maxSchema bytes is read each time.
const (
	maxKept   = 10_000
	maxSchema = 4 << 10
)

// refusalTime is how long it takes at least to refuse an ID. Asking for one that exists takes
// some tenths of a millisecond longer than asking for one that does not.
const refusalTime = 5 * time.Millisecond

// even waits until a refusal has taken its time.
func even(ctx context.Context, start time.Time) {
	wait := time.NewTimer(refusalTime - time.Since(start))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// owners keeps the owners.
type owners struct {
	backend       service.Backend
	conversations *lru.Cache[string, service.Owner]
	approvals     *lru.Cache[string, service.Subject]
}

func newOwners(b service.Backend) owners {
	conversations, _ := lru.New[string, service.Owner](maxKept) // fails only for sizes below 1
	approvals, _ := lru.New[string, service.Subject](maxKept)
	return owners{b, conversations, approvals}
}

// started keeps the owner of a conversation that was just started.
func (o owners) started(in contract.ConversationInput) {
	o.conversations.Add(in.ID, service.OwnerOf(in.Owner))
}

// ofConversation returns the owner: the zero one for a conversation without. What is kept
// is used only if the owner suits: a refusal asks again each time, like an unknown ID, so that
// the time it takes does not say which of the two it is.
func (o owners) ofConversation(ctx context.Context, id string, suits func(service.Owner) bool) (service.Owner, error) {
	if owner, ok := o.conversations.Get(id); ok && suits(owner) {
		return owner, nil
	}
	owner, err := o.backend.Owner(ctx, id)
	if err == nil {
		o.conversations.Add(id, owner)
	}
	return owner, err
}

// ofApproval returns what an approval is about, as ofConversation returns an owner.
func (o owners) ofApproval(ctx context.Context, uuid string, suits func(service.Subject) bool) (service.Subject, error) {
	if s, ok := o.approvals.Get(uuid); ok && suits(s) {
		return s, nil
	}
	s, err := o.backend.Subject(ctx, uuid)
	if err == nil && len(s.Schema) <= maxSchema {
		o.approvals.Add(uuid, s)
	}
	return s, err
}
