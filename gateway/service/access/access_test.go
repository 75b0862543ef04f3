package access_test

import (
	"context"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/access"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/deputy"
)

// store is a backend with one conversation of alice, "hers", that has one approval. It belongs to
// her group, too.
type store struct{ service.Backend }

var hers = service.OwnerOf(contract.Identity{Subject: "alice", Issuer: "keys", Groups: []string{"Shop"}})

var alice = contract.Identity{Subject: "alice", Issuer: "keys", Scopes: []string{contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove}}

func as(subject, issuer string, scopes ...string) contract.Identity {
	return contract.Identity{Subject: subject, Issuer: issuer, Scopes: append(scopes, contract.ScopeConverse, contract.ScopeRead)}
}

func (store) Owner(_ context.Context, id string) (service.Owner, error) {
	switch id {
	case "hers":
		return hers, nil
	case "old":
		return service.Owner{}, nil
	}
	return service.Owner{}, service.NoConversation(id)
}

func (store) Subject(_ context.Context, uuid string) (service.Subject, error) {
	if uuid != "hers" {
		return service.Subject{}, service.NoApproval(uuid)
	}
	return service.Subject{ConversationID: "hers", Owner: hers, Approvers: []string{"scope:approve:all", "group:ops", approvers.NotRequester}}, nil
}

func (store) Conversation(context.Context, string, string) (contract.ConversationView, error) {
	return contract.ConversationView{}, nil
}
func (store) Signal(context.Context, string, string, any) error { return nil }
func (store) Decide(context.Context, string, contract.DecideSignal) (*contract.ApprovalResult, error) {
	return nil, nil
}
func (store) Delete(context.Context, deletion.Input) (deletion.Result, error) {
	return deletion.Result{}, nil
}
func (store) Deputies(context.Context) (deputy.State, error)   { return deputy.State{}, nil }
func (store) DeletePush(context.Context, string, string) error { return nil }
func (store) Tree(context.Context, string) (contract.TreeView, error) {
	return contract.TreeView{}, nil
}
func (store) Approval(context.Context, string) (contract.ApprovalView, error) {
	return contract.ApprovalView{}, nil
}
func (store) PushConfigs(context.Context, string) ([]service.PushConfig, error) { return nil, nil }

// uses are the ways in which a backend is used with an ID.
var uses = map[string]func(ctx context.Context, b service.Backend, id string) error{
	"read": func(ctx context.Context, b service.Backend, id string) error {
		_, err := b.Conversation(ctx, id, "")
		return err
	},
	"tree": func(ctx context.Context, b service.Backend, id string) error { _, err := b.Tree(ctx, id); return err },
	"signal": func(ctx context.Context, b service.Backend, id string) error {
		return b.Signal(ctx, id, "message", nil)
	},
	"delete": func(ctx context.Context, b service.Backend, id string) error {
		_, err := b.Delete(ctx, deletion.Input{ConversationID: id})
		return err
	},
	"hooks": func(ctx context.Context, b service.Backend, id string) error {
		_, err := b.PushConfigs(ctx, id)
		return err
	},
	"unhook": func(ctx context.Context, b service.Backend, id string) error { return b.DeletePush(ctx, id, "1") },
	"approval": func(ctx context.Context, b service.Backend, id string) error {
		_, err := b.Approval(ctx, id)
		return err
	},
	"decide": func(ctx context.Context, b service.Backend, id string) error {
		_, err := b.Decide(ctx, id, contract.DecideSignal{})
		return err
	},
}

func TestWhoMayDoWhat(t *testing.T) {
	operator := as("alice", "https://other", contract.ScopeReadAll) // the same name, by another issuer
	member := as("bob", "keys", contract.ScopeApprove)
	member.Groups = []string{"ops"}
	shop := as("carol", "keys", contract.ScopeApprove)
	shop.Groups = []string{"Shop"}
	other, almost := as("carol", "https://other"), as("carol", "keys")
	other.Groups, almost.Groups = shop.Groups, []string{"shop"}
	const (
		yes       = contract.Kind("")
		hidden    = contract.KindNotFound
		forbidden = contract.KindForbidden
	)
	for name, tc := range map[string]struct {
		ctx  context.Context
		want map[string]contract.Kind // by use, and "old" for reading a conversation without an owner
	}{
		"the owner": {service.ActingFor(t.Context(), alice), map[string]contract.Kind{
			"read": yes, "tree": yes, "signal": yes, "delete": yes, "hooks": yes, "unhook": yes, "approval": yes, "decide": forbidden, "old": hidden}},
		"somebody else": {service.ActingFor(t.Context(), as("bob", "keys", contract.ScopeApprove)), map[string]contract.Kind{
			"read": hidden, "tree": hidden, "signal": hidden, "delete": hidden, "hooks": hidden, "unhook": hidden, "approval": hidden, "decide": hidden, "old": hidden}},
		"who reads everything": {service.ActingFor(t.Context(), operator), map[string]contract.Kind{
			"read": yes, "tree": yes, "signal": forbidden, "delete": forbidden, "hooks": forbidden, "unhook": forbidden, "approval": yes, "decide": forbidden, "old": yes}},
		"a group that decides": {service.ActingFor(t.Context(), member), map[string]contract.Kind{
			"read": hidden, "tree": hidden, "signal": hidden, "delete": hidden, "hooks": hidden, "unhook": hidden, "approval": yes, "decide": yes, "old": hidden}},
		"a group that shares it": {service.ActingFor(t.Context(), shop), map[string]contract.Kind{
			"read": yes, "tree": yes, "signal": yes, "delete": forbidden, "hooks": forbidden, "unhook": forbidden, "approval": yes, "decide": forbidden, "old": hidden}},
		"a group of that name elsewhere": {service.ActingFor(t.Context(), other), map[string]contract.Kind{
			"read": hidden, "tree": hidden, "signal": hidden, "delete": hidden, "hooks": hidden, "unhook": hidden, "approval": hidden, "decide": hidden, "old": hidden}},
		"a group of a similar name": {service.ActingFor(t.Context(), almost), map[string]contract.Kind{
			"read": hidden, "tree": hidden, "signal": hidden, "delete": hidden, "hooks": hidden, "unhook": hidden, "approval": hidden, "decide": hidden, "old": hidden}},
		"nobody": {t.Context(), map[string]contract.Kind{
			"read": hidden, "tree": hidden, "signal": hidden, "delete": hidden, "hooks": hidden, "unhook": hidden, "approval": hidden, "decide": hidden, "old": hidden}},
		"an identity without a subject": {service.ActingFor(t.Context(), contract.Identity{Scopes: contract.Scopes()}), map[string]contract.Kind{
			"read": hidden, "tree": hidden, "signal": hidden, "delete": hidden, "hooks": hidden, "unhook": hidden, "approval": hidden, "decide": hidden, "old": hidden}},
		"the gateway": {service.ActingItself(t.Context()), map[string]contract.Kind{
			"read": yes, "tree": yes, "signal": yes, "delete": yes, "hooks": yes, "unhook": yes, "approval": yes, "decide": yes, "old": yes}},
	} {
		t.Run(name, func(t *testing.T) {
			b := access.New(store{}, nil, true)
			for range 2 { // the second time from what is kept
				for use, f := range uses {
					wantKind(t, use, f(tc.ctx, b, "hers"), tc.want[use])
				}
				wantKind(t, "old", uses["read"](tc.ctx, b, "old"), tc.want["old"])
			}
		})
	}
}

func wantKind(t *testing.T, use string, err error, want contract.Kind) {
	t.Helper()
	if want == "" && err != nil || want != "" && !service.IsKind(err, want) {
		t.Errorf("%s: got %v, want %q", use, err, want)
	}
}

// TestWhatIsHiddenLooksUnknown compares the errors of an ID that exists with those of one that
// does not.
func TestWhatIsHiddenLooksUnknown(t *testing.T) {
	ctx := service.ActingFor(t.Context(), as("bob", "keys", contract.ScopeApprove))
	b := access.New(store{}, nil, true)
	for use, f := range uses {
		exists, missing := f(ctx, b, "hers"), f(ctx, b, "none")
		if exists == nil || missing == nil || len(exists.Error()) != len(missing.Error()) {
			t.Errorf("%s: got %q for what exists, %q for what does not", use, exists, missing)
		}
	}
}

// asked counts how often it is asked about an approval, whose schema has a size.
type asked struct {
	store
	size, times int
}

func (a *asked) Subject(ctx context.Context, uuid string) (service.Subject, error) {
	a.times++
	s, err := a.store.Subject(ctx, uuid)
	s.Schema = make([]byte, a.size)
	return s, err
}

func TestLargeSchemasAreNotKept(t *testing.T) {
	for size, want := range map[int]int{100: 1, 64 << 10: 3} {
		backend := &asked{size: size}
		b := access.New(backend, nil, true)
		for range 3 {
			if s, err := b.Subject(service.ActingFor(t.Context(), alice), "hers"); err != nil || len(s.Schema) != size {
				t.Errorf("got %d bytes, %v", len(s.Schema), err)
			}
		}
		if backend.times != want {
			t.Errorf("%d bytes: asked %d times, want %d", size, backend.times, want)
		}
	}
}
