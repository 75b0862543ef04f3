package config

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

func (c *Config) describeModels(w io.Writer, getenv func(string) string) {
	if len(c.Models) == 0 {
		return
	}
	fmt.Fprintln(w, "\nModels")
	g := registry(c.Models)
	for _, name := range g.names() {
		fmt.Fprintf(w, "  %s: %s\n", name, strings.Join(g.facts(name, getenv), "; "))
	}
}

// facts returns the settings of an entry. Of headers and keys it shows only the names.
func (g registry) facts(name string, getenv func(string) string) []string {
	e := g[name]
	if !e.Enabled {
		return []string{e.fullName(), "disabled"}
	}
	out := []string{e.fullName(), g.keyState(name, getenv)}
	add := func(apply bool, format string, args ...any) {
		if apply {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(e.BaseURL != "", "at %s", shownURL(e.BaseURL))
	add(len(e.Headers) > 0, "with the headers %s", strings.Join(slices.Sorted(maps.Keys(e.Headers)), ", "))
	add(e.ContextWindow > 0, "window of %d tokens", e.ContextWindow)
	add(e.MaxTokens > 0, "replies of at most %d tokens", e.MaxTokens)
	if e.Temperature != nil {
		add(true, "temperature %s", decimal(*e.Temperature))
	}
	out = append(out, e.Price.String())
	add(e.Timeout != contract.DefaultModelTimeout, "at most %s a call", short(e.Timeout))
	add(e.TotalTimeout > 0, "at most %s a reply", short(e.TotalTimeout))
	add(e.TextToolCalls, "calls tools in its text")
	add(len(g.fallbacks(name)) > 0, "falls back on %s", strings.Join(g.fallbacks(name), ", "))
	return out
}

// keyState says whether a model has its key.
func (g registry) keyState(model string, getenv func(string) string) string {
	variable, missing := g.key(model, getenv)
	switch {
	case variable == "":
		return "needs no key"
	case missing:
		return "key " + variable + " is missing"
	}
	return "key " + variable + " is set"
}
