package protocol

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"agent-stop-and-go/workflows/contract"
)

// CardInput is the content of an agent's card.
type CardInput struct {
	Name        string
	Description string
	Version     string // default "1.0.0"
	// PublicURL is the gateway's public URL, without /a2a.
	PublicURL string
	Provider  *a2a.AgentProvider

	Tools []contract.Tool
	Peers []contract.Peer // agents to which work is delegated

	Streaming, Push, Extended bool
	Extensions                []a2a.AgentExtension
	// InputModes and OutputModes are media types. The default is text and JSON.
	InputModes, OutputModes []string

	SecuritySchemes      a2a.NamedSecuritySchemes
	SecurityRequirements a2a.SecurityRequirementsOptions
}

var defaultModes = []string{"text/plain", "application/json"}

// Card makes an agent's card. It lists versions 1.0 and 0.3 at one address, the newer first.
// The old dialect has no version and is not listed.
func Card(in CardInput) *a2a.AgentCard {
	base := strings.TrimRight(in.PublicURL, "/")
	return &a2a.AgentCard{
		Name:                 in.Name,
		Description:          cmp.Or(in.Description, in.Name),
		Version:              cmp.Or(in.Version, "1.0.0"),
		Provider:             in.Provider,
		DocumentationURL:     base + "/docs",
		SupportedInterfaces:  interfaces(base + "/a2a"),
		Capabilities:         capabilities(in),
		DefaultInputModes:    modes(in.InputModes),
		DefaultOutputModes:   modes(in.OutputModes),
		Skills:               skills(in),
		SecuritySchemes:      in.SecuritySchemes,
		SecurityRequirements: in.SecurityRequirements,
	}
}

func interfaces(url string) []*a2a.AgentInterface {
	v03 := a2a.NewAgentInterface(url, a2a.TransportProtocolJSONRPC)
	v03.ProtocolVersion = a2av0.Version
	return []*a2a.AgentInterface{a2a.NewAgentInterface(url, a2a.TransportProtocolJSONRPC), v03}
}

func capabilities(in CardInput) a2a.AgentCapabilities {
	return a2a.AgentCapabilities{
		Extensions:        in.Extensions,
		Streaming:         in.Streaming,
		PushNotifications: in.Push,
		ExtendedAgentCard: in.Extended,
	}
}

func modes(given []string) []string {
	if len(given) == 0 {
		return slices.Clone(defaultModes)
	}
	return given
}

// skills returns a skill for each tool and each peer. The protocol requires at least one, so
// an agent with neither has the skill to chat.
func skills(in CardInput) []a2a.AgentSkill {
	var out []a2a.AgentSkill
	for _, t := range in.Tools {
		out = append(out, skill(t.Name, t.Description, cmp.Or(t.Server, "tool"), t.DestructiveHint))
	}
	for _, p := range in.Peers {
		out = append(out, skill(p.Tool(), p.Description, "agent", p.Destructive))
	}
	if len(out) == 0 {
		out = append(out, skill("chat", in.Description, "chat", false))
	}
	return out
}

func skill(name, description, tag string, destructive bool) a2a.AgentSkill {
	out := a2a.AgentSkill{ID: name, Name: name, Description: cmp.Or(description, name), Tags: []string{tag}}
	if destructive {
		out.Tags = append(out.Tags, "destructive", "needs-approval")
	}
	return out
}
