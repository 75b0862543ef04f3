package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Model returns the agent's model: that of a single llm agent, otherwise the default of the
// nodes.
func (c *Config) Model() string {
	if c.single() {
		return cmp.Or(c.Root.Model, c.LLM.Model)
	}
	return c.LLM.Model
}

// models returns the models that nodes use, without duplicates, in declared order.
func (c *Config) models() []string {
	if c.Root == nil {
		return []string{c.LLM.Model}
	}
	var names []string
	for p := range c.nodes() {
		if p.Type == LLMNode {
			names = appendNew(names, cmp.Or(p.Model, c.LLM.Model))
		}
	}
	return names
}

// choices returns the models that people may choose, sorted.
func (c *Config) choices() (names []string) {
	for name, e := range c.Models {
		if e.Selectable && e.Enabled {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// otherModels returns the models that people may choose, and the fallbacks of all, except for
// those that nodes use.
func (c *Config) otherModels() []string {
	used := c.models()
	all := appendNew(slices.Clone(used), c.choices()...)
	for _, name := range slices.Clone(all) {
		all = appendNew(all, registry(c.Models).fallbacks(name)...)
	}
	return all[len(used):]
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// UseModel makes every llm node use the given model.
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

// routes returns the models that need settings for their calls. A model that is only a
// fallback has no fallbacks of its own.
func (c *Config) routes() []contract.ModelRoute {
	var out []contract.ModelRoute
	first := append(c.models(), c.choices()...)
	for _, name := range append(c.models(), c.otherModels()...) {
		e, _, _ := registry(c.Models).find(name)
		route := contract.ModelRoute{Name: name}
		if slices.Contains(first, name) {
			route.Fallback = registry(c.Models).fallbacks(name)
		}
		if e.Timeout != contract.DefaultModelTimeout {
			route.Timeout = e.Timeout
		}
		if len(route.Fallback) > 0 || route.Timeout > 0 {
			out = append(out, route)
		}
	}
	slices.SortFunc(out, func(a, b contract.ModelRoute) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// MissingKey is a model whose key is not set in the environment.
type MissingKey struct {
	Path     string // the key of the file that names the model
	Model    string // with its provider and model, if it is an entry
	Variable string
	// Spared: nodes can work without this model for now, because it is a fallback, or because
	// another model of the chain has its key or needs none, or because only people choose it.
	Spared bool
	// Chosen: only people choose the model.
	Chosen bool
}

// String returns one line.
func (k MissingKey) String() string {
	until := "it cannot be called until it is"
	if k.Chosen {
		until = "those who choose it get an error until it is"
	} else if k.Spared {
		until = "others are asked in its place until it is"
	}
	return fmt.Sprintf("model %s needs %s, which is not set; %s", k.Model, k.Variable, until)
}

// KeysMissing checks the models that nodes use, and then their fallbacks.
func (c *Config) KeysMissing(getenv func(string) string) []MissingKey {
	var out []MissingKey
	models := registry(c.Models)
	add := func(name string, spared bool) {
		if variable, missing := models.key(name, getenv); missing {
			out = append(out, MissingKey{Path: c.firstUse(name), Model: models.title(name), Variable: variable, Spared: spared, Chosen: c.Models[name].Selectable && !slices.Contains(c.models(), name)})
		}
	}
	reached := map[string]bool{} // the fallbacks of nodes that can work without one
	for _, name := range c.models() {
		fallbacks := models.fallbacks(name)
		answered := slices.ContainsFunc(append(slices.Clone(fallbacks), name), func(name string) bool {
			_, missing := models.key(name, getenv)
			return !missing
		})
		add(name, answered)
		for _, other := range fallbacks {
			reached[other] = reached[other] || answered
		}
	}
	for _, name := range c.otherModels() {
		add(name, reached[name] || c.Models[name].Selectable)
	}
	return out
}

// firstUse returns the first key of the file that names a model: of a node, llm.model, or the
// fallbacks of an entry.
func (c *Config) firstUse(model string) string {
	for p := range c.nodes() {
		if p.Type == LLMNode && p.Model == model {
			return p.path + ".model"
		}
	}
	if c.Models[model].Selectable {
		return join("models", model)
	}
	for _, name := range append(c.models(), c.choices()...) {
		if i := slices.Index(c.Models[name].Fallback, model); i >= 0 && !slices.Contains(c.models(), model) {
			return fmt.Sprintf("models.%s.fallback[%d]", name, i)
		}
	}
	return "llm.model"
}

// key returns the variable with a model's key, and whether it is unset.
func (g registry) key(model string, getenv func(string) string) (variable string, missing bool) {
	e, _, err := g.find(model)
	if err != nil {
		return "", false
	}
	variable = e.KeyVariable()
	return variable, variable != "" && strings.TrimSpace(getenv(variable)) == ""
}

// AskedModels returns the models that tools of the agent itself may ask.
func (c *Config) AskedModels() []string {
	if len(c.LocalTools.Models) > 0 {
		return c.LocalTools.Models
	}
	enabled := slices.DeleteFunc(registry(c.Models).names(), func(name string) bool { return !c.Models[name].Enabled })
	return appendNew(appendNew([]string{c.Model()}, enabled...), c.models()...)
}
