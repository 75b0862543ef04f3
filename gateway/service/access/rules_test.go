package access_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/access"
	"agent-stop-and-go/workflows/contract"
)

// desk is a backend with approvals that wait.
type desk struct {
	store
	items []service.WaitingItem
	all   int   // pages of everybody's that were read
	err   error // of the pages of everybody's
}

func (d *desk) Waiting(_ context.Context, q service.ListQuery) (page service.Page[service.WaitingItem], err error) {
	if q.Whose.Owner == "" {
		if d.all++; d.err != nil {
			return page, d.err
		}
	}
	first, _ := strconv.Atoi(string(q.Token))
	for i, item := range d.items[first:] {
		if len(page.Items) == q.Limit {
			page.Next = []byte(strconv.Itoa(first + i))
			break
		}
		if q.Whose.Owner == "" || q.Whose.Owner == item.Owner.Key {
			page.Items = append(page.Items, item)
		}
	}
	return page, nil
}

func waitingFor(owner contract.Identity, uuid string, rules ...string) service.WaitingItem {
	return service.WaitingItem{UUID: uuid, Owner: service.OwnerOf(owner), Approvers: rules}
}

// crowd are approvals that are for their owners only, before and after one that is not.
func crowd(before int, item service.WaitingItem) (items []service.WaitingItem) {
	for i := range before {
		items = append(items, waitingFor(as("eve", "keys"), fmt.Sprint("eve-", i), "requester"))
	}
	return append(items, item, waitingFor(as("eve", "keys"), "eve-last", "requester"))
}

func list(t *testing.T, b *access.Backend, caller contract.Identity) (uuids []string) {
	t.Helper()
	q := service.ListQuery{Limit: 100}
	for {
		page, err := b.Waiting(service.ActingFor(t.Context(), caller), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			uuids = append(uuids, item.UUID)
		}
		if q.Token = page.Next; len(q.Token) == 0 {
			return uuids
		}
	}
}

// The rules of the configuration changed after conversations were started.
func TestApproversFindWhatWasAskedForUnderFormerRules(t *testing.T) {
	ops := as("bob", "keys", contract.ScopeApprove)
	ops.Groups = []string{"ops"}
	former, today := waitingFor(alice, "former", "group:ops"), waitingFor(alice, "today", "group:cfo")
	cfo := as("carol", "keys", contract.ScopeApprove)
	cfo.Groups = []string{"cfo"}
	silent := ops
	silent.Scopes = []string{contract.ScopeRead}
	stranger := as("mallory", "keys", contract.ScopeApprove)
	for name, tc := range map[string]struct {
		caller contract.Identity
		items  []service.WaitingItem
		want   []string
	}{
		"a former approver":           {ops, []service.WaitingItem{today, former}, []string{"former"}},
		"behind many others":          {ops, crowd(450, former), []string{"former"}},
		"an approver of today":        {cfo, []service.WaitingItem{today, former}, []string{"today"}},
		"the requester":               {alice, []service.WaitingItem{today, former}, []string{"today", "former"}},
		"without the scope":           {silent, []service.WaitingItem{today, former}, nil},
		"somebody who was never one":  {stranger, []service.WaitingItem{today, former}, nil},
		"the rules of a conversation": {ops, []service.WaitingItem{waitingFor(ops, "own", "group:ops", "not_requester")}, []string{"own"}},
	} {
		b := access.New(&desk{items: tc.items}, []string{"group:cfo"}, false)
		for range 2 { // the second time from what is kept
			if got := list(t, b, tc.caller); !slices.Equal(got, tc.want) {
				t.Errorf("%s: %q, want %q", name, got, tc.want)
			}
		}
	}
}

func TestFormerRulesAreReadOnceForAll(t *testing.T) {
	d := &desk{items: crowd(0, waitingFor(alice, "former", "group:ops"))}
	b := access.New(d, []string{"group:cfo"}, false)
	for i := range 50 {
		list(t, b, as(fmt.Sprint("user-", i), "keys", contract.ScopeApprove))
	}
	if d.all != 1 {
		t.Errorf("all approvals were read %d times", d.all)
	}
}

func TestAListFailsWhileFormerRulesAreNotKnown(t *testing.T) {
	d := &desk{err: errors.New("away")}
	b := access.New(d, []string{"group:cfo"}, false)
	ctx := service.ActingFor(t.Context(), alice)
	if _, err := b.Waiting(ctx, service.ListQuery{Limit: 1}); !errors.Is(err, d.err) {
		t.Errorf("got %v", err)
	}
	d.err = nil
	if _, err := b.Waiting(ctx, service.ListQuery{Limit: 1}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
