package adoption

import (
	"context"
	"fmt"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// Tools are the tools of a configuration, by server and name.
type Tools struct {
	// Servers says why a server does not answer; "" if it does. One that is missing is not in the
	// file.
	Servers map[string]string
	// Targets has where the calls of a tool go now.
	Targets map[[2]string]contract.Binding
}

// checker compares conversations with a configuration.
type checker struct {
	agent contract.Agent
	tools func(context.Context) (Tools, error)
	known *Tools
}

func (c *checker) decide(ctx context.Context, o *Outcome, f found) error {
	o.From = f.agent.Hash()
	if f.next != nil && !f.follows(o.To) {
		o.Stored = f.next.Hash()
	}
	if o.From == o.To {
		if o.State = Same; o.Stored != "" { // which is taken back: what waits was asked for with this one
			o.State, o.Changes = Now, changes(*f.next, c.agent)
		}
		return nil
	}
	o.Changes = changes(f.agent, c.agent)
	if f.agent.Name != c.agent.Name {
		o.State, o.Reasons = Kept, []string{fmt.Sprintf("it is a conversation with %q, and the file is that of %q", f.agent.Name, c.agent.Name)}
		return nil
	}
	for _, p := range f.view.Pending {
		o.Approvals = append(o.Approvals, fmt.Sprintf("%s (%s %s)", p.UUID, p.Reason, p.ToolName))
		reason, err := c.problem(ctx, f.agent, p)
		if err != nil {
			return err
		}
		if reason != "" {
			o.Reasons = append(o.Reasons, fmt.Sprintf("approval %s: %s", p.UUID, reason))
		}
	}
	waits := len(f.view.Pending) > 0 && f.agent.Root().Type == c.agent.Root().Type && !f.agent.Root().Composite()
	switch {
	case len(o.Reasons) > 0:
		o.State = Kept
	case waits || !f.view.Running && len(f.view.Pending) == 0:
		o.State = Now
	default:
		o.State = Next
	}
	return nil
}

// problem returns why a grant would not hold under the new configuration, or "". The arguments of a
// call are in the conversation, so no configuration changes them.
func (c *checker) problem(ctx context.Context, before contract.Agent, p contract.PendingApproval) (string, error) {
	switch p.Reason {
	case contract.ReasonLimit, contract.ReasonQuestion, contract.ReasonClientTool:
		return "", nil // about no call, or one that is under way
	}
	if p.Server == "" {
		return peerProblem(before, c.agent, p), nil
	}
	if p.Binding == nil {
		return "it was asked for by an earlier version, which noted no digest of the tool: decide it first", nil
	}
	if c.known == nil {
		tools, err := c.tools(ctx)
		if err != nil {
			return "", fmt.Errorf("list the tools of the new file: %w", err)
		}
		c.known = &tools
	}
	down, listed := c.known.Servers[p.Server]
	now, has := c.known.Targets[[2]string{p.Server, p.ToolName}]
	switch {
	case !listed:
		return fmt.Sprintf("the tool server %s is not in the file", p.Server), nil
	case has && p.Binding.Same(now):
		return "", nil
	case has && p.Binding.Address != now.Address:
		return fmt.Sprintf("it is for %s at %s, which the file has at %s", p.ToolName, p.Binding.Address, now.Address), nil
	case has:
		return fmt.Sprintf("the description or the parameters of %s have changed", p.ToolName), nil
	case down != "":
		return fmt.Sprintf("the tool server %s does not answer, so %s cannot be compared: %s", p.Server, p.ToolName, down), nil
	}
	return fmt.Sprintf("the tool server %s has no tool %s any more", p.Server, p.ToolName), nil
}

// peerProblem is problem for a delegation, or an approval that another agent asks for.
func peerProblem(before, after contract.Agent, p contract.PendingApproval) string {
	is := func(peer contract.Peer) bool { return peer.Name == p.RemoteAgentName || peer.Tool() == p.ToolName }
	old, new := peers(before.Root()), peers(after.Root())
	i, j := slices.IndexFunc(old, is), slices.IndexFunc(new, is)
	switch {
	case i < 0:
		return ""
	case j < 0:
		return fmt.Sprintf("the agent %s is not in the file", old[i].Name)
	case old[i].URL != new[j].URL:
		return fmt.Sprintf("it is for the agent %s at %s, which the file has at %s", old[i].Name, old[i].URL, new[j].URL)
	}
	return ""
}

func peers(n contract.Node) []contract.Peer {
	out := slices.Clone(n.Peers)
	if n.Peer != nil {
		out = append(out, *n.Peer)
	}
	for _, child := range n.Nodes {
		out = append(out, peers(child)...)
	}
	return out
}
