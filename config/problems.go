package config

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/config/webhooks"
)

// Problems lists what is missing in the environment: keys of models that nodes need, and
// variables in ${NAME}. Load does not read the environment: a file is valid without them, and
// an agent starts without most of them, but the parts that need them fail.
func (c *Config) Problems(getenv func(string) string) Errors {
	r := newReport(c.file, c.lines)
	for _, k := range c.KeysMissing(getenv) {
		if !k.Spared {
			r.atLine(r.line(k.Path), k.Path, "the model %s needs %s, which is not set in the environment; set it, or use another model: %s needs no key", k.Model, k.Variable, freeModels)
		}
	}
	for path, value := range c.references() {
		for _, variable := range secrets.Unset(value, getenv) {
			r.atLine(r.line(path), path, "${%s} is not set in the environment", variable)
		}
	}
	return r.sorted()
}

const freeModels = "demo:rules (--demo-if-no-key) or ollama:MODEL"

// references visits the values of the file that may contain ${NAME}, with their keys. Models
// that no node uses are skipped.
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
		for _, name := range append(c.models(), c.otherModels()...) {
			if !each(join("models", name)+".headers", c.Models[name].Headers) {
				return
			}
		}
		for path, a := range c.delegates() {
			if !each(path+".headers", a.Headers) {
				return
			}
		}
		if x := c.TokenExchange; x != nil && !yield("token_exchange.client_secret", x.ClientSecret) {
			return
		}
		_ = yield("push.signing_key", c.Push.SigningKey) && yield("events.redis", c.Events.Redis) && webhooks.References(c.Approval.Webhooks, yield)
	}
}
