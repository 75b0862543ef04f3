package handler

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
)

// Card implements protocol.Handler. Where callers prove who they are, strangers are not shown the
// tools and the agents behind this one.
func (h *Handler) Card(ctx context.Context) (*a2a.AgentCard, error) { return h.card(ctx, !h.proven) }

// ExtendedCard implements protocol.Handler. It has the tools for callers who may list them.
func (h *Handler) ExtendedCard(ctx context.Context) (*a2a.AgentCard, error) {
	if !h.proven {
		return nil, a2a.ErrExtendedCardNotConfigured
	}
	return h.card(ctx, callerOf(ctx).Identity.May(contract.ScopeRead))
}

// card makes a card with or without the tools and the agents behind this one. It has no tools if no
// worker can list them.
func (h *Handler) card(ctx context.Context, whole bool) (*a2a.AgentCard, error) {
	in := protocol.CardInput{
		Name: h.agent.Name, Description: h.agent.Description, Version: h.version, PublicURL: callerOf(ctx).BaseURL,
		Streaming: true, Push: true, Extended: h.proven, Extensions: []a2a.AgentExtension{task.HITLExtension(), {
			URI: contract.IdempotentMessages, Description: "A message is carried out once for each message ID, and a request answered once",
		}, {
			URI: contract.ApprovalParts, Description: "What a task waits for is in data parts of the type " + contract.TypeApprovalRequest,
		}},
		InputModes: h.inputModes(), OutputModes: []string{"text/plain", "application/json"},
		Provider: h.provider,
	}
	in.SecuritySchemes, in.SecurityRequirements = security(h.schemes)
	if whole {
		catalogue, err := h.service.Catalogue(ctx)
		if err != nil {
			h.logger.Warn("the agent's card has no tools", "error", err)
		}
		in.Tools, in.Peers = catalogue.Tools, peersOf(h.agent.Root())
	}
	return protocol.Card(in), nil
}

// inputModes are the media types of files that the agent takes. Of images a model that cannot see is
// told at least.
func (h *Handler) inputModes() []string {
	out := append([]string{"text/plain", "application/json"}, request.ImageTypes...)
	if h.service.Takes().PDF {
		out = append(out, modality.PDF)
	}
	return out
}

// security returns the schemes of a card. A caller needs one of them.
func security(schemes []identity.Scheme) (a2a.NamedSecuritySchemes, a2a.SecurityRequirementsOptions) {
	if len(schemes) == 0 {
		return nil, nil
	}
	named, required := a2a.NamedSecuritySchemes{}, a2a.SecurityRequirementsOptions{}
	for _, s := range schemes {
		name := a2a.SecuritySchemeName(s.Name)
		if named[name] = (a2a.HTTPAuthSecurityScheme{Scheme: "Bearer", Description: s.Description}); s.DiscoveryURL != "" {
			named[name] = a2a.OpenIDConnectSecurityScheme{OpenIDConnectURL: s.DiscoveryURL, Description: s.Description}
		}
		required = append(required, a2a.SecurityRequirements{name: {}})
	}
	return named, required
}

// peersOf returns the agents that a tree delegates to, without duplicates.
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
