package worker

import (
	"maps"
	"slices"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/config"
	pricing "agent-stop-and-go/config/price"
	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/workflows/contract"
)

// disabled is a provider that does not exist.
const disabled contract.Provider = "disabled"

// models returns the entries of a configuration, sorted by name. Disabled ones are included: a
// conversation that uses one must not have its name taken for that of another provider's model.
func models(c *config.Config, getenv func(string) string) ([]llm.Entry, error) {
	var out []llm.Entry
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		e := c.Models[name]
		if !e.Enabled {
			out = append(out, llm.Entry{Name: name, Provider: disabled, Model: e.Model})
			continue
		}
		headers, err := e.HTTPHeaders(name, getenv)
		problem, err := unset(err)
		if err != nil {
			return nil, err
		}
		out = append(out, llm.Entry{
			Name: name, Provider: contract.Provider(e.Provider), Model: e.Model, BaseURL: e.BaseURL, KeyVariable: e.APIKeyEnv,
			Headers: headers, Secrets: secrets.InHeaders(e.Headers, getenv), Temperature: e.Temperature, MaxTokens: e.MaxTokens, ContextWindow: e.ContextWindow,
			Timeout: e.Timeout, TotalTimeout: e.TotalTimeout, Images: e.Images, PDF: e.PDF, TextToolCalls: e.TextToolCalls, Price: price(e.Price),
			Problem: problem,
		})
	}
	return out, nil
}

func price(p *pricing.Price) llm.Price {
	if p == nil {
		return llm.Price{}
	}
	return llm.Price{Input: p.Input, Output: p.Output, Cached: p.Cached}
}
