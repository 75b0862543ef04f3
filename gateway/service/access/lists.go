package access

import (
	"context"
	"slices"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
)

// nobody is the error of a list for a context that says not whom it works for.
var nobody = service.Errorf(contract.KindForbidden, "nobody is known to list this for")

// visible returns whose entries a list may have: those of everybody, or of the caller and its groups.
func (b *Backend) visible(ctx context.Context) (service.Whose, error) {
	caller, itself := service.Acting(ctx)
	switch {
	case itself:
		return service.Whose{}, nil
	case !caller.Authenticated():
		return service.Whose{}, nobody
	case caller.Has(contract.ScopeReadAll):
		return service.Whose{}, nil
	case !caller.Has(contract.ScopeRead) && !caller.Has(contract.ScopeConverse):
		return service.Whose{}, lacks(contract.ScopeRead)
	}
	return b.whose(caller), nil
}

func (b *Backend) whose(caller contract.Identity) service.Whose {
	w := service.Whose{Owner: caller.Key()}
	if b.shares {
		w.Groups = caller.GroupKeys()
	}
	return w
}

// List implements Conversations.
func (b *Backend) List(ctx context.Context, q service.ListQuery) (page service.Page[service.Item], err error) {
	if q.Whose, err = b.visible(ctx); err != nil {
		return page, err
	}
	return b.backend.List(ctx, q)
}

// Tasks implements Conversations.
func (b *Backend) Tasks(ctx context.Context, q service.TaskQuery) (page service.TaskPage, err error) {
	if q.Whose, err = b.visible(ctx); err != nil {
		return page, err
	}
	return b.backend.Tasks(ctx, q)
}

// RunningIn implements Conversations. A context belongs to its caller: another one of the same
// name is of somebody else, also for those who see both.
func (b *Backend) RunningIn(ctx context.Context, contextID string, whose service.Whose, limit int) ([]string, error) {
	if caller, itself := service.Acting(ctx); !itself {
		if !caller.Authenticated() {
			return nil, nobody
		}
		whose = service.Whose{Owner: caller.Key()}
	}
	return b.backend.RunningIn(ctx, contextID, whose, limit)
}

// Summary implements Conversations.
func (b *Backend) Summary(ctx context.Context, _ service.Whose) (service.Summary, error) {
	whose, err := b.visible(ctx)
	if err != nil {
		return service.Summary{}, err
	}
	return b.backend.Summary(ctx, whose)
}

// Waiting implements Approvals. It lists what the caller may see or decide. A page may be
// shorter than asked for if others' approvals were on it.
func (b *Backend) Waiting(ctx context.Context, q service.ListQuery) (page service.Page[service.WaitingItem], err error) {
	caller, itself := service.Acting(ctx)
	if itself {
		return b.backend.Waiting(ctx, q)
	}
	if q.Whose, err = b.visible(ctx); err != nil {
		return page, err
	}
	others, err := b.letDecideForOthers(ctx, caller)
	if err != nil {
		return page, err
	}
	deputies, err := b.deputiesTo(ctx, caller)
	if err != nil {
		return page, err
	}
	if others || len(deputies) > 0 {
		q.Whose = service.Whose{}
	}
	if page, err = b.backend.Waiting(ctx, q); err != nil {
		return page, err
	}
	page.Items = slices.DeleteFunc(page.Items, func(item service.WaitingItem) bool {
		_, inPlace := approvers.AnyDeputizes(caller, item.Owner.Key, item.Approvers, deputies, item.UUID, time.Now())
		return !inPlace && !service.MaySee(caller, item.Owner) && !approvers.May(caller, item.Owner.Key, item.Approvers)
	})
	return page, nil
}
