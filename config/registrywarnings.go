package config

import (
	"cmp"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// models warns about names of models that probably mean another model.
func (w warner) models(c *Config) {
	g := registry(c.Models)
	w.slip(g, "llm.model", c.LLM.Model)
	for p := range c.nodes() {
		if p.Type == LLMNode {
			w.slip(g, p.path+".model", p.Model)
		}
	}
	for _, name := range g.names() {
		for i, other := range g[name].Fallback {
			if e, own := g[other]; own && !e.Enabled {
				w.at(fmt.Sprintf("models.%s.fallback[%d]", name, i), "%s is disabled and left out", quote(other))
			}
		}
	}
	w.prices(c)
}

// slip warns about a name without a provider that is similar to that of an entry.
func (w warner) slip(g registry, path, name string) {
	e, own, err := g.find(name)
	if similar := g.similar(name); !own && err == nil && similar != "" && !strings.Contains(name, ":") {
		w.at(path, "%s is no name in models, so it is the model %s; did you mean %s?", quote(name), e.fullName(), similar)
	}
}

// prices warns about models in use whose cost is unknown, if there is a limit of cost.
func (w warner) prices(c *Config) {
	path := ""
	for _, side := range c.Limits.Sides() {
		if side.Cost != nil {
			path = cmp.Or(path, side.Path+".cost")
		}
	}
	if path == "" {
		return
	}
	for _, name := range append(c.models(), c.otherModels()...) {
		if e, _, _ := registry(c.Models).find(name); e.Price == nil && contract.Provider(e.Provider) != contract.ProviderDemo {
			w.atLine(w.line(path), path, "the model %s has no price; its calls count as free", registry(c.Models).title(name))
		}
	}
}
