package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"agent-stop-and-go/config/header"
	"agent-stop-and-go/config/price"
	"agent-stop-and-go/config/spelling"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/contract/modelname"
)

// ModelEntry is a model with settings of its own. MODELS.md describes them.
type ModelEntry struct {
	Provider string `yaml:"provider" jsonschema:"required,enum=google,enum=anthropic,enum=openai,enum=mistral,enum=ollama,enum=openrouter,enum=compatible" jsonschema_description:"Who runs the model. compatible is any server that speaks OpenAI's chat completions, which base_url names."`
	Model    string `yaml:"model" jsonschema:"required,minLength=1" jsonschema_description:"The model's name, as its provider calls it."`
	BaseURL  string `yaml:"base_url" jsonschema_description:"An http or https URL that replaces the provider's endpoint. A compatible server needs it."`
	// APIKeyEnv replaces the variable of the provider.
	APIKeyEnv   string   `yaml:"api_key_env" jsonschema_description:"The environment variable with the key, such as TEAM_API_KEY. Without it, the provider's own variable; a compatible server then gets no key."`
	Temperature *float64 `yaml:"temperature" jsonschema:"minimum=0,maximum=2" jsonschema_description:"How freely the model words its replies. Without it the provider decides."`
	MaxTokens   int      `yaml:"max_tokens" jsonschema:"minimum=1,maximum=100000000" jsonschema_description:"How many tokens a reply may have at most. Without it the provider decides."`
	// ContextWindow is 0 if the file does not set it.
	ContextWindow int           `yaml:"context_window" jsonschema:"minimum=256,maximum=100000000" jsonschema_description:"How many tokens a request and its reply may have together. Without it, what is known of the model. More than max_tokens."`
	Timeout       time.Duration `yaml:"timeout" jsonschema:"default=60s" jsonschema_description:"How long one call may take, from 1s to 1h."`
	// TotalTimeout is 0 if the file does not set it, which means twice Timeout.
	TotalTimeout time.Duration     `yaml:"total_timeout" jsonschema_description:"How long all attempts at one reply may take together, without the pauses between them. Without it, twice the timeout. At least the timeout, at most 3h."`
	Enabled      bool              `yaml:"enabled" jsonschema:"default=true" jsonschema_description:"false: nothing may use the entry. Lists of fallbacks leave it out."`
	Description  string            `yaml:"description" jsonschema_description:"What the entry is for."`
	Headers      map[string]string `yaml:"headers" jsonschema_description:"HTTP headers of every request. ${NAME} takes a value from the agent's environment, which is how secrets are given."`
	// Price is nil if unknown.
	Price      *price.Price `yaml:"price" jsonschema_description:"What a million tokens cost. All prices and limits are in one currency, which you choose."`
	Fallback   []string     `yaml:"fallback" jsonschema_description:"Models that are asked instead, in this order, when this one fails: names in models, or provider:model. Their own fallbacks are not followed."`
	Selectable bool         `yaml:"selectable" jsonschema:"default=false" jsonschema_description:"true: people may choose the entry in the place of the agent's model, for a conversation (!model NAME in a chat) or for one message (@NAME before it). Nodes that name a model of their own keep it."`
	// Images and PDF are nil if the file does not set them.
	Images        *bool `yaml:"images" jsonschema_description:"Whether the model takes images. Without it, what is known of the model; of those of mistral, ollama, openrouter and compatible nothing is."`
	PDF           *bool `yaml:"pdf" jsonschema_description:"Whether the model takes PDFs, as images. mistral and ollama have no place for them."`
	TextToolCalls bool  `yaml:"text_tool_calls" jsonschema:"default=false" jsonschema_description:"true: tool calls that the model writes into its text are made. For small models that write a call down instead of making it."`
}

// KeyVariable returns the environment variable with the key, or "" if no key is needed.
func (e ModelEntry) KeyVariable() string {
	return cmp.Or(e.APIKeyEnv, contract.Provider(e.Provider).KeyVariable())
}

// HTTPHeaders returns Headers as MCPServer.HTTPHeaders does. name is the entry's.
func (e ModelEntry) HTTPHeaders(name string, getenv func(string) string) (map[string]string, error) {
	return header.Expand("model "+name, e.Headers, getenv)
}

// Takes returns what a model takes besides text, by a name in models or any other.
func (c *Config) Takes(model string) modality.Set {
	e, _, _ := registry(c.Models).find(model)
	return modality.Of(contract.Provider(e.Provider), e.Model).With(e.Images, e.PDF)
}

// fullName returns the entry's model as provider:model.
func (e ModelEntry) fullName() string { return e.Provider + ":" + e.Model }

// registry contains the models with entries, by name.
type registry map[string]ModelEntry

func (g registry) names() []string { return slices.Sorted(maps.Keys(g)) }

// find resolves a name. Entries take precedence over providers' models; for a name without an
// entry only the provider and the model are set.
func (g registry) find(name string) (e ModelEntry, own bool, err error) {
	if e, own = g[name]; own {
		return e, true, nil
	}
	p, model, err := modelname.Parse(name)
	return ModelEntry{Provider: string(p), Model: model, Timeout: contract.DefaultModelTimeout, Enabled: true}, false, err
}

// fallbacks returns the fallbacks of a model that are not disabled.
func (g registry) fallbacks(name string) []string {
	var out []string
	for _, other := range g[name].Fallback {
		if e, own := g[other]; !own || e.Enabled {
			out = append(out, other)
		}
	}
	return out
}

// similar returns the name of the entry that is most similar to name, or "".
func (g registry) similar(name string) string {
	best, least := "", 3
	if len(name) > spelling.MaxSlip {
		return ""
	}
	for _, candidate := range g.names() {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// title returns a model's name, with its provider and model if it is an entry.
func (g registry) title(name string) string {
	if e, own := g[name]; own {
		return fmt.Sprintf("%s (%s)", name, e.fullName())
	}
	return name
}
