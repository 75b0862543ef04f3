package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/activities/local"
	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// policyOf returns the rules for the activities, or nil.
func policyOf(c *config.Config) rules.Policy {
	if p := c.Policy(); p != nil {
		return p
	}
	return nil // not a nil *policy.Policy, which would be a Policy
}

// ruledTools are the tools with what the rules say about them.
type ruledTools struct {
	local.Box
	policy *policy.Policy // may be nil
	known  *sync.Map      // *verdict.OfTool by ruledTool
}

// ruledTool is what a tool has that rules about all its calls can read.
type ruledTool struct {
	name, server                      string
	readOnly, destructive, idempotent bool
}

// Tools implements activities.Caller.
func (r ruledTools) Tools(ctx context.Context) []toolbox.Tool {
	list := r.Box.Tools(ctx)
	if r.policy == nil {
		return list
	}
	for i, t := range list {
		list[i].Rules = r.about(ruledTool{t.Name, t.Server, t.ReadOnly, t.DestructiveHint, t.Idempotent})
	}
	return list
}

func (r ruledTools) about(t ruledTool) *verdict.OfTool {
	if said, ok := r.known.Load(t); ok {
		return said.(*verdict.OfTool)
	}
	said := r.policy.About(verdict.Call{Tool: t.name, Server: t.server, ReadOnly: t.readOnly, Destructive: t.destructive, Idempotent: t.idempotent})
	r.known.Store(t, said)
	return said
}

// ruleCheck checks the rules against the tools, when all servers have answered, and again when
// their tools change.
type ruleCheck struct {
	config *config.Config
	logger *slog.Logger

	mu       sync.Mutex
	problems []string
}

// run checks until ctx ends, and logs what is wrong, each fault once.
func (r *ruleCheck) run(ctx context.Context, s toolLister) {
	if r.config.Policy() == nil {
		return
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var checked []policy.Tool
	logged := map[string]bool{}
	s.Tools(ctx) // waits for servers that are being started
	for {
		ready := !slices.ContainsFunc(s.States(), func(s contract.ServerState) bool { return !s.Ready })
		tools := ruleTools(r.config, s.Tools(ctx)) // after the states: the list of a ready server
		// A rule may be about the tools of a server that has not answered yet. Those of one that is
		// gone stay on offer.
		if (ready || checked != nil) && !reflect.DeepEqual(tools, checked) {
			r.check(tools, logged)
			checked = tools
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// check checks the rules against tools.
func (r *ruleCheck) check(tools []policy.Tool, logged map[string]bool) {
	problems := []string{}
	for _, f := range r.config.CheckRules(tools) {
		problems = append(problems, f.String())
		if logged[f.String()] {
			continue
		}
		logged[f.String()] = true
		if f.Fatal {
			r.logger.Error("a rule can never match", "rule", f.Name, "problem", f.String())
		} else {
			r.logger.Warn("a rule does not fit all tools that it is about", "rule", f.Name, "problem", f.String())
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = problems
}

// Problems returns what is wrong with the rules.
func (r *ruleCheck) Problems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

// ruleTools are all that calls can be about: the tools of servers, and delegations.
func ruleTools(c *config.Config, list []toolbox.Tool) []policy.Tool {
	out := []policy.Tool{} // not nil: no tools are checked, too
	for _, t := range list {
		facts := map[string]json.RawMessage{}
		for name, source := range t.Facts {
			facts[name] = source.Schema
		}
		out = append(out, policy.Tool{Name: t.Name, Server: t.Server, Schema: t.InputSchema, Facts: facts})
	}
	for _, a := range c.Delegates() {
		t := contract.Delegation(contract.Peer{Name: a.Name})
		out = append(out, policy.Tool{Name: t.Name, Schema: t.InputSchema})
	}
	return out
}
