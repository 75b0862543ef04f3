package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract"
)

// policyOf returns the rules for the activities, or nil.
func policyOf(c *config.Config) rules.Policy {
	if p := c.Policy(); p != nil {
		return p
	}
	return nil // not a nil *policy.Policy, which would be a Policy
}

// ruleCheck checks the rules against the tools, once all servers have answered.
type ruleCheck struct {
	config *config.Config
	logger *slog.Logger

	mu       sync.Mutex
	problems []string
}

// run waits for all servers, checks, and logs what is wrong. It returns when that is done, or ctx
// ends.
func (r *ruleCheck) run(ctx context.Context, s toolLister) {
	if r.config.Policy() == nil {
		return
	}
	s.Tools(ctx) // waits for servers that are being started
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for slices.ContainsFunc(s.States(), func(s contract.ServerState) bool { return !s.Ready }) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	for _, f := range r.config.CheckRules(ruleTools(r.config, s.Tools(ctx))) {
		if f.Fatal {
			r.logger.Error("a rule can never match", "rule", f.Name, "problem", f.String())
		} else {
			r.logger.Warn("a rule does not fit all tools that it is about", "rule", f.Name, "problem", f.String())
		}
		r.mu.Lock()
		r.problems = append(r.problems, f.String())
		r.mu.Unlock()
	}
}

// Problems returns what is wrong with the rules.
func (r *ruleCheck) Problems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

// ruleTools are all that calls can be about: the tools of servers, and delegations.
func ruleTools(c *config.Config, list []toolbox.Tool) []policy.Tool {
	var out []policy.Tool
	for _, t := range list {
		facts := map[string]json.RawMessage{}
		for name, source := range t.Facts {
			facts[name] = source.Schema
		}
		out = append(out, policy.Tool{Name: t.Name, Server: t.Server, Schema: t.InputSchema, Facts: facts})
	}
	for _, a := range c.Delegates() {
		t := contract.Peer{Name: a.Name}.Delegation()
		out = append(out, policy.Tool{Name: t.Name, Schema: t.InputSchema})
	}
	return out
}
