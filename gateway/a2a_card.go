package gateway

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/tasks"
	"agent-stop-and-go/gateway/tasks/story"
	"agent-stop-and-go/workflows/contract"
)

// Card implements tasks.Handler. Without a worker that tells the tools, the card has
// none of them.
func (s a2aServer) Card(ctx context.Context) (*a2a.AgentCard, error) {
	in := tasks.CardInput{
		Name: s.Agent.Name, Description: s.Agent.Description, Version: s.Version, PublicURL: s.publicURL(echoOf(ctx)),
		Peers: peersOf(s.Agent.Root()), Streaming: true, Push: true, Extensions: []a2a.AgentExtension{story.HITLExtension(), {
			URI: contract.IdempotentMessages, Description: "A message is carried out once for each message ID, and a request answered once",
		}, {
			URI: contract.ApprovalParts, Description: "What a task waits for is in data parts of the type " + contract.TypeApprovalRequest,
		}},
		InputModes: append([]string{"text/plain", "application/json"}, imageTypes...), OutputModes: []string{"text/plain", "application/json"},
	}
	if p := s.Provider; p.Organization != "" {
		in.Provider = &a2a.AgentProvider{Org: p.Organization, URL: p.URL}
	}
	catalogue, err := s.catalogue.get(ctx)
	if err != nil {
		s.Logger.Warn("the agent's card has no tools", "error", err)
	}
	in.Tools = catalogue.Tools
	return tasks.Card(in), nil
}

// ExtendedCard implements tasks.Handler. Callers are not told apart, so there is
// nothing that only some may know.
func (s a2aServer) ExtendedCard(context.Context) (*a2a.AgentCard, error) {
	return nil, a2a.ErrExtendedCardNotConfigured
}

// peersOf are the agents that a tree delegates to, each once.
func peersOf(n contract.Node) []contract.Peer {
	var out []contract.Peer
	seen := map[string]bool{}
	var walk func(contract.Node)
	walk = func(n contract.Node) {
		list := n.Peers
		if n.Peer != nil {
			list = append(list[:len(list):len(list)], *n.Peer)
		}
		for _, p := range list {
			if !seen[p.Name] {
				seen[p.Name] = true
				out = append(out, p)
			}
		}
		for _, inside := range n.Nodes {
			walk(inside)
		}
	}
	walk(n)
	return out
}
