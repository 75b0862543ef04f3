package access

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
)

const (
	// rulesLast is how long the rules of what waits are kept. Rules change with the
	// configuration, and then conversations go on with those they were started with.
	rulesLast = time.Minute
	// maxRead is how many approvals are read to know the rules, the newest first.
	maxRead   = 1000
	pageOfAll = 200
)

// rules are those of the approvals that wait. They may be others than the agent's of today.
type rules struct {
	backend service.Approvals
	now     func() time.Time
	flight  singleflight.Group

	mu   sync.Mutex
	kept [][]string // different ones
	read time.Time
}

// letDecideForOthers reports whether an approval of somebody else may be for a caller to decide.
func (b *Backend) letDecideForOthers(ctx context.Context, caller contract.Identity) (bool, error) {
	may := func(rules []string) bool { return approvers.MayDecideForOthers(caller, rules) }
	switch {
	case may(b.approvers):
		return true, nil
	case !caller.Has(contract.ScopeApprove) && !caller.Has(contract.ScopeApproveAll):
		return false, nil
	}
	former, err := b.former.all(ctx)
	return slices.ContainsFunc(former, may), err
}

// all returns the different rules.
func (r *rules) all(ctx context.Context) ([][]string, error) {
	if kept, fresh := r.last(); fresh {
		return kept, nil
	}
	done := r.flight.DoChan("", func() (any, error) {
		if kept, fresh := r.last(); fresh {
			return kept, nil
		}
		found, err := r.find(service.ActingItself(context.WithoutCancel(ctx)))
		if err == nil {
			r.keep(found)
		}
		return found, err
	})
	select {
	case result := <-done:
		found, _ := result.Val.([][]string)
		return found, result.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *rules) last() (kept [][]string, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept, !r.read.IsZero() && r.now().Sub(r.read) < rulesLast
}

func (r *rules) keep(found [][]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept, r.read = found, r.now()
}

func (r *rules) find(ctx context.Context) (found [][]string, err error) {
	known := map[string]bool{}
	q := service.ListQuery{Limit: pageOfAll}
	for read := 0; read < maxRead; read += pageOfAll {
		page, err := r.backend.Waiting(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if key, _ := json.Marshal(item.Approvers); !known[string(key)] { // texts
				known[string(key)] = true
				found = append(found, item.Approvers)
			}
		}
		if q.Token = page.Next; len(q.Token) == 0 {
			break
		}
	}
	return found, nil
}
