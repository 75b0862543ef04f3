package adoption

import (
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/adoption"
	"agent-stop-and-go/workflows/signal"
)

// changeAdopt marks the first configuration that a run was told to take over. Older workers ignored
// the signal.
const changeAdopt = "adopt"

// Adoption receives the configurations.
type Adoption struct {
	signals workflow.ReceiveChannel
	next    *adoption.Adopt // the newest one that is not taken over
}

// New returns the Adoption of a conversation.
func New(ctx workflow.Context) Adoption {
	return Adoption{signals: workflow.GetSignalChannel(ctx, adoption.SignalAdopt)}
}

// Register answers the query for the configuration.
func Register(ctx workflow.Context, now *contract.Agent) error {
	return workflow.SetQueryHandler(ctx, adoption.QueryAgent, func() (contract.Agent, error) { return *now, nil })
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
		if workflow.GetVersion(ctx, changeAdopt, workflow.DefaultVersion, 1) >= 1 {
			a.next = &in
		}
	}
	if a.next == nil {
		return nil
	}
	return &a.next.Agent
}

// Done records that the configuration is taken over.
func (a *Adoption) Done(ctx workflow.Context) {
	hash := a.next.Agent.Hash()
	if err := workflow.UpsertTypedSearchAttributes(ctx, attribute.ConfigHash.ValueSet(hash)); err != nil {
		workflow.GetLogger(ctx).Error("upsert the search attributes", "error", err)
	}
	workflow.GetLogger(ctx).Info(adoption.LogAdopted, "config", hash, "by", a.next.By)
	a.next = nil
}
