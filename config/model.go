package config

import (
	"cmp"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Model is the name of the agent's model: that of a single llm agent, else the
// one that nodes use unless they name their own.
func (c *Config) Model() string {
	if c.single() {
		return cmp.Or(c.Root.Model, c.LLM.Model)
	}
	return c.LLM.Model
}

// models are the models that nodes use, in declared order.
func (c *Config) models() []string {
	if c.Root == nil {
		return []string{c.LLM.Model}
	}
	var names []string
	for p := range c.places() {
		if p.Type == LLMNode {
			names = append(names, cmp.Or(p.Model, c.LLM.Model))
		}
	}
	return names
}

// UseModel makes every llm node use another model than the file says.
func (c *Config) UseModel(model string) {
	c.LLM.Model = model
	if c.Root != nil {
		c.Root.useModel(model)
	}
}

func (n *Node) useModel(model string) {
	if n.Type == LLMNode {
		n.Model = model
	}
	for _, child := range n.Agents {
		child.useModel(model)
	}
}

// KeyMissing looks at the models that nodes use, and returns the first variable
// with a provider's key that is unset. When none is missing it returns the
// variable of the first model, which is empty when its provider needs no key.
func (c *Config) KeyMissing(getenv func(string) string) (variable string, missing bool) {
	for i, model := range c.models() {
		v, unset := keyMissing(model, getenv)
		if unset {
			return v, true
		}
		if i == 0 {
			variable = v
		}
	}
	return variable, false
}

func keyMissing(model string, getenv func(string) string) (variable string, missing bool) {
	provider, _, err := contract.ParseModel(model)
	if err != nil {
		return "", false
	}
	variable = provider.KeyVariable()
	return variable, variable != "" && strings.TrimSpace(getenv(variable)) == ""
}
