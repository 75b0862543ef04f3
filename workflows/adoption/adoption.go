package adoption

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/adoption"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/signal"
)

// changeAdopt marks runs whose first configuration was noted. Older workers ignored the signal; later
// ones have a mark of their own then (changeAdopt-2 and so on).
const changeAdopt = "adopt"

// changeChecked marks runs that take over nothing beside an approval which was not compared with it.
const changeChecked = "adopt-checked"

// Adoption receives the configurations.
type Adoption struct {
	signals  workflow.ReceiveChannel
	received int
	next     *adoption.Adopt // the newest one that is not taken over
}

// New returns the Adoption of a conversation.
func New(ctx workflow.Context) Adoption {
	return Adoption{signals: workflow.GetSignalChannel(ctx, adoption.SignalAdopt)}
}

// Register answers the queries for the configuration and for the next one.
func (a *Adoption) Register(ctx workflow.Context, now *contract.Agent) error {
	if err := workflow.SetQueryHandler(ctx, adoption.QueryAgent, func() (contract.Agent, error) { return *now, nil }); err != nil {
		return err
	}
	return workflow.SetQueryHandler(ctx, adoption.QueryNext, func() (*contract.Agent, error) {
		if a.next == nil {
			return nil, nil
		}
		return &a.next.Agent, nil
	})
}

// Len is the number of signals that have arrived.
func (a *Adoption) Len() int { return a.signals.Len() }

// Next returns the configuration to take over, or nil. One for another agent is ignored.
func (a *Adoption) Next(ctx workflow.Context, now contract.Agent) *contract.Agent {
	for raw, ok := signal.Receive(a.signals); ok; raw, ok = signal.Receive(a.signals) {
		var in adoption.Adopt
		if err := json.Unmarshal(raw, &in); err != nil || in.Agent.Name != now.Name || in.Agent.Model == "" && in.Agent.Tree == nil {
			workflow.GetLogger(ctx).Warn("a configuration was not adopted: it is not one of this agent", "error", err)
			continue
		}
		if a.received++; a.noted(ctx) {
			a.next = &in
		}
	}
	if a.next == nil {
		return nil
	}
	return &a.next.Agent
}

// noted reports whether a configuration counts that was just received. A history has one answer for
// each mark: without others, a signal that an older worker has ignored would silence all later ones.
func (a *Adoption) noted(ctx workflow.Context) bool {
	return workflow.GetVersion(ctx, changeAdopt, workflow.DefaultVersion, 1) >= 1 ||
		workflow.GetVersion(ctx, fmt.Sprintf("%s-%d", changeAdopt, a.received), workflow.DefaultVersion, 1) >= 1
}

// Checked reports whether the configuration to take over was compared with all approvals that wait.
func (a *Adoption) Checked(ctx workflow.Context, waiting []contract.PendingApproval) bool {
	known := func(p contract.PendingApproval) bool { return slices.Contains(a.next.Approvals, p.UUID) }
	unknown := slices.ContainsFunc(waiting, func(p contract.PendingApproval) bool { return !known(p) })
	return !unknown || workflow.GetVersion(ctx, changeChecked, workflow.DefaultVersion, 1) < 1
}

// Done records that the configuration is taken over.
func (a *Adoption) Done(ctx workflow.Context, state *contract.Carried) {
	hash := a.next.Agent.Hash()
	if err := workflow.UpsertTypedSearchAttributes(ctx, attribute.ConfigHash.ValueSet(hash)); err != nil {
		workflow.GetLogger(ctx).Error("upsert the search attributes", "error", err)
	}
	workflow.GetLogger(ctx).Info(adoption.LogAdopted, "config", hash, "by", a.next.By)
	state.Prompts = promptversion.Add(state.Prompts, a.next.Agent.PromptVersion, workflow.Now(ctx).UTC(), a.next.By)
	a.next = nil
}
