package worker

import (
	"time"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/activities/local"
	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modelname"
)

// localTools are the tools of the agent itself, nil if none is on offer.
func localTools(c *config.Config, models *router.Router) *local.Tools {
	t := c.LocalTools
	if !t.Offers() {
		return nil
	}
	out := &local.Tools{
		Agent: c.AgentName(), Description: c.Description, Offer: t.Offer, MaxTokens: t.MaxTokens, Timeout: t.Timeout, Model: models, Now: time.Now,
	}
	for _, name := range c.AskedModels() {
		m := local.Model{Name: name, Context: models.Facts(name).Window, Default: name == c.Model()}
		if e, known := c.Models[name]; known {
			p := price(e.Price)
			m.Provider, m.Model, m.Input, m.Output = contract.Provider(e.Provider), e.Model, p.Input, p.Output
		} else if provider, model, err := modelname.Parse(name); err == nil { // else asking it fails
			m.Provider, m.Model = provider, model
		}
		out.Models = append(out.Models, m)
	}
	return out
}

// ownTools are the tools of the agent itself with what bounds their calls, nil if none is on offer.
func ownTools(offer local.Box, p rules.Policy) *activities.Own {
	if offer.Own == nil {
		return nil
	}
	return &activities.Own{Tools: offer.Own, Scope: local.Scope{Offer: offer, Policy: p, Servers: offer}}
}
