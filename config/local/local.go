// Package local has the settings of the tools of the agent itself.
package local

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract/local"
)

// Tools are the tools of the agent itself that are on offer. The zero value offers none.
type Tools struct {
	Offer     []string      `yaml:"offer" jsonschema_description:"Which tools are offered: agent_info, models, ask_model, ask_model_with_tool. None without the key."`
	Models    []string      `yaml:"models" jsonschema_description:"Which models ask_model and ask_model_with_tool may ask, each a name in models, or provider:model. Without it: llm.model, those of models that are not disabled, and those of the nodes."`
	MaxTokens int           `yaml:"max_tokens" jsonschema:"default=4096,minimum=1,maximum=1000000" jsonschema_description:"How many tokens each reply of a model that is asked may have at most."`
	Timeout   time.Duration `yaml:"timeout" jsonschema:"default=1m" jsonschema_description:"How long one call may take, with all that it does. The maximum is 2m."`
}

// Offers reports whether any tool is on offer.
func (t Tools) Offers() bool { return len(t.Offer) > 0 }

// Check reports what is wrong with the settings, by their keys, except names of models. taken says
// that an MCP server has the name local.Server.
func (t Tools) Check(taken bool, report func(key, problem string)) {
	for i, name := range t.Offer {
		switch key := fmt.Sprintf("offer[%d]", i); {
		case !slices.Contains(local.Names(), name):
			report(key, fmt.Sprintf("must be one of %s, not %q", strings.Join(local.Names(), ", "), name))
		case slices.Contains(t.Offer[:i], name):
			report(key, fmt.Sprintf("%s is listed twice", name))
		}
	}
	if t.Timeout < time.Second || t.Timeout > local.MaxTime {
		report("timeout", fmt.Sprintf("must be between 1s and %s, not %s", local.MaxTime, t.Timeout))
	}
	if t.Offers() && taken {
		report("offer", fmt.Sprintf("an MCP server is named %q, as the tools of the agent itself are for rules and lists of tools: name it otherwise", local.Server))
	}
}
