package config

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Problems are what a part of the agent cannot work without and the environment does
// not have: the keys of models that nodes cannot do without, and variables that
// ${NAME} stands for. Load does not look at the environment. A file is right without
// them, and an agent starts without most of them; what needs them fails until they are
// set.
func (c *Config) Problems(getenv func(string) string) Errors {
	r := newReport(c.file, c.lines)
	for _, k := range c.KeysMissing(getenv) {
		if !k.Spared {
			r.atLine(r.line(k.Path), k.Path, "the model %s needs %s, which is not set in the environment; set it, or use another model: %s needs no key", k.Model, k.Variable, freeModels)
		}
	}
	for path, value := range c.references() {
		for _, variable := range unset(value, getenv) {
			r.atLine(r.line(path), path, "${%s} is not set in the environment", variable)
		}
	}
	return r.sorted()
}

const freeModels = "demo:rules (--demo-if-no-key) or ollama:MODEL"

// references visits the values of the file that may hold ${NAME}, with their keys. Those
// of models that no node uses do not count.
func (c *Config) references() iter.Seq2[string, string] {
	return func(yield func(path, value string) bool) {
		each := func(path string, values map[string]string) bool {
			for _, name := range slices.Sorted(maps.Keys(values)) {
				if !yield(join(path, name), values[name]) {
					return false
				}
			}
			return true
		}
		for i, s := range c.MCPServers {
			path := fmt.Sprintf("mcp_servers[%d]", i)
			if !each(path+".env", s.Env) || !each(path+".headers", s.Headers) {
				return
			}
		}
		for _, name := range append(c.models(), c.spares()...) {
			if !each(join("models", name)+".headers", c.Models[name].Headers) {
				return
			}
		}
		for path, a := range c.delegates() {
			if !each(path+".headers", a.Headers) {
				return
			}
		}
		_ = yield("push.signing_key", c.Push.SigningKey) && yield("events.redis", c.Events.Redis)
	}
}

// unset are the variables that a value stands for and that are not set, each once.
func unset(value string, getenv func(string) string) []string {
	var out []string
	for _, m := range reference.FindAllStringSubmatch(value, -1) {
		if getenv(m[1]) == "" {
			out = appendNew(out, m[1])
		}
	}
	return out
}
