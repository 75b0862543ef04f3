package grants

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/run"
)

// maxHistory is the number of events after which a run continues as new.
const maxHistory = 2000

// Registry is what the workflow is registered with: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers the workflow.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Grants, workflow.RegisterOptions{Name: standing.Workflow})
}

// Grants keeps the standing grants of an agent. It never ends: a long run continues as new.
func Grants(ctx workflow.Context, in standing.Input) error {
	b := &book{grants: in.Grants, proofs: proof.Of(ctx)}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	if err := b.register(ctx); err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return run.IsLong(ctx, maxHistory) && workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	b.forget(workflow.Now(ctx))
	return workflow.NewContinueAsNewError(ctx, standing.Workflow, standing.Input{Grants: b.grants})
}

type book struct {
	grants []standing.Grant // the oldest first
	proofs proof.Checker
}

func (b *book) register(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, standing.QueryGrants, b.view); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, standing.UpdateGive, b.give, workflow.UpdateHandlerOptions{Validator: b.mayGive}); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, standing.UpdateUse, b.use, workflow.UpdateHandlerOptions{Validator: b.mayUse}); err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, standing.UpdateRevoke, b.revoke, workflow.UpdateHandlerOptions{Validator: b.mayRevoke})
}

func (b *book) view() (standing.View, error) {
	v := standing.View{Grants: slices.Clone(b.grants)}
	for i := range v.Grants {
		v.Grants[i].Keys = nil
	}
	return v, nil
}

func (b *book) find(id string) *standing.Grant {
	i := slices.IndexFunc(b.grants, func(g standing.Grant) bool { return g.ID == id })
	if i < 0 {
		return nil
	}
	return &b.grants[i]
}

// forget drops the grants of which nothing has to be known any more.
func (b *book) forget(now time.Time) {
	b.grants = slices.DeleteFunc(b.grants, func(g standing.Grant) bool { return g.Over(now) })
}

func refusal(kind contract.Kind, err error) error {
	if err == nil {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), string(kind), nil)
}

var errUnproven = errors.New("it is not proven who sends it")

// mayGive refuses a Giving that no Approval has sent: whoever can type an update can decide each
// approval, too, but not in advance, and in nobody's name.
func (b *book) mayGive(ctx workflow.Context, raw json.RawMessage) error {
	var g standing.Giving
	if err := json.Unmarshal(raw, &g); err != nil {
		return refusal(contract.KindInvalid, errors.New("it is no standing grant"))
	}
	if !b.proofs.Holds(standing.UpdateGive, raw, g.Proof) {
		return refusal(contract.KindForbidden, errUnproven)
	}
	now := workflow.Now(ctx)
	if b.find(g.ID) != nil { // an attempt before this one has given it
		return nil
	}
	if err := g.Check(now); err != nil {
		return refusal(contract.KindInvalid, err)
	}
	count := 0
	for _, other := range b.grants {
		if other.Counts(now) {
			count++
		}
	}
	if count >= standing.Max {
		return refusal(contract.KindBusy, fmt.Errorf("there are %d standing grants already; revoke some first", count))
	}
	return nil
}

// give adds a grant. One that is sent again is there once.
func (b *book) give(ctx workflow.Context, raw json.RawMessage) error {
	var g standing.Giving
	if err := json.Unmarshal(raw, &g); err != nil {
		return refusal(contract.KindInvalid, err)
	}
	if b.find(g.ID) != nil {
		return nil
	}
	b.forget(workflow.Now(ctx))
	given := standing.Grant{Terms: g.Terms, By: g.By, Since: g.Since}
	b.grants = append(b.grants, given)
	record(ctx, given, event{what: "given", by: g.By, via: g.Via, conversation: g.Conversation})
	return b.publish(ctx)
}

// mayUse refuses what takes no use. It leaves no event.
func (b *book) mayUse(ctx workflow.Context, t standing.Take) error {
	g := b.find(t.ID)
	switch {
	case t.Key == "":
		return refusal(contract.KindInvalid, errors.New("a use needs a key"))
	case g == nil || !slices.Contains(g.Keys, t.Key) && !g.Counts(workflow.Now(ctx)):
		return refusal(contract.KindNotFound, errors.New("there is no such standing grant any more"))
	}
	return nil
}

// use counts a use. A key that was counted before is the same use.
func (b *book) use(ctx workflow.Context, t standing.Take) (grant.Use, error) {
	now := run.Now(ctx)
	g := b.find(t.ID)
	if g == nil {
		return grant.Use{}, b.mayUse(ctx, t)
	}
	if i := slices.Index(g.Keys, t.Key); i >= 0 {
		return g.Use(i + 1), nil
	}
	if !g.Counts(now) { // since the validator has looked
		return grant.Use{}, b.mayUse(ctx, t)
	}
	g.Keys, g.Used, g.LastUse = append(g.Keys, t.Key), g.Used+1, now
	used := *g
	record(ctx, used, event{what: "used", key: t.Key, conversation: t.Conversation})
	if g.Used < g.Uses {
		return used.Use(used.Used), nil
	}
	g.Ended = now
	return used.Use(used.Used), b.publish(ctx)
}

// mayRevoke lets those revoke who have given a grant or whose calls it is about, and operators.
func (b *book) mayRevoke(ctx workflow.Context, raw json.RawMessage) error {
	var r standing.Revocation
	if err := json.Unmarshal(raw, &r); err != nil {
		return refusal(contract.KindInvalid, errors.New("it revokes no standing grant"))
	}
	if r.By.Subject != "" && !b.proofs.Holds(standing.UpdateRevoke, raw, r.Proof) {
		return refusal(contract.KindForbidden, errUnproven)
	}
	g := b.find(r.ID)
	if g == nil {
		return refusal(contract.KindNotFound, errors.New("there is no such standing grant any more"))
	}
	if !standing.MayRevoke(*g, r) {
		return refusal(contract.KindForbidden, errors.New("it is for whoever has given it, for whose calls it is, and for operators to revoke"))
	}
	return nil
}

// revoke ends a grant. Uses that were taken before stay.
func (b *book) revoke(ctx workflow.Context, raw json.RawMessage) error {
	var r standing.Revocation
	if err := json.Unmarshal(raw, &r); err != nil {
		return refusal(contract.KindInvalid, err)
	}
	g := b.find(r.ID)
	if g == nil || !g.Counts(workflow.Now(ctx)) {
		return nil
	}
	g.Revoked, g.Ended = &r.By, run.Now(ctx)
	record(ctx, *g, event{what: "revoked", by: r.By, via: cmp.Or(r.Via, contract.ChannelSignal), conversation: g.Conversation})
	return b.publish(ctx)
}

// publish writes the memo, with the workflow task that answers the update.
func (b *book) publish(ctx workflow.Context) error {
	now := workflow.Now(ctx)
	index := standing.Index{Grants: []standing.Entry{}}
	for _, g := range b.grants {
		if g.Counts(now) {
			e := standing.Entry{Terms: g.Terms, By: g.By}
			e.Arguments.Rest = nil
			index.Grants = append(index.Grants, e)
		}
	}
	if err := workflow.UpsertMemo(ctx, map[string]any{standing.Memo: index}); err != nil {
		return fmt.Errorf("upsert the memo: %w", err)
	}
	return nil
}
