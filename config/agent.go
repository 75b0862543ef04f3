package config

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Agent is what a conversation starts with. A long prompt goes to the store.
// A lone llm node's name, prompt and model come before the settings at the top
// of the file. It fails when the configuration is not Runnable.
func (c *Config) Agent(ctx context.Context, store transcript.Store) (contract.Agent, error) {
	if err := c.Runnable(); err != nil {
		return contract.Agent{}, err
	}
	a := contract.Agent{
		Name: c.Name, Description: c.Description, Model: c.Model(),
		MaxToolRounds: c.MaxToolRounds, Execution: c.Execution, ApprovalTimeout: c.Approval.Timeout,
	}
	prompt := c.Prompt
	if c.Root != nil {
		a.Name = cmp.Or(c.Root.Name, c.Name)
		a.Description = cmp.Or(c.Root.Description, c.Description)
		a.Node = a.Name
		prompt = cmp.Or(c.Root.Prompt, c.Prompt)
	}
	var err error
	if a.Prompt, err = transcript.Text(ctx, store, prompt); err != nil {
		return contract.Agent{}, fmt.Errorf("keep the prompt of %s: %w", a.Name, err)
	}
	return a, nil
}

// Runnable fails for what loads and validates but does not run yet.
func (c *Config) Runnable() error {
	what := ""
	switch {
	case c.Root != nil && c.Root.Type != LLMNode:
		what = "agent: type " + c.Root.Type
	case c.Root != nil && len(c.Root.A2A) > 0:
		what = "agent.a2a: delegating to other agents"
	case len(c.A2A) > 0:
		what = "a2a: delegating to other agents"
	default:
		return nil
	}
	return &Error{File: c.file, Message: what + " is not supported by this version yet; use a single llm agent"}
}

// Model is the name of the model that a single llm agent uses.
func (c *Config) Model() string {
	if c.Root != nil {
		return cmp.Or(c.Root.Model, c.LLM.Model)
	}
	return c.LLM.Model
}

// UseModel makes the agent use another model than the file says.
func (c *Config) UseModel(model string) {
	c.LLM.Model = model
	if c.Root != nil {
		c.Root.Model = model
	}
}

// KeyMissing returns the variable with the key of Model's provider, and whether
// it is unset. The variable is empty when the provider needs no key.
func (c *Config) KeyMissing(getenv func(string) string) (variable string, missing bool) {
	return keyMissing(c.Model(), getenv)
}

func keyMissing(model string, getenv func(string) string) (variable string, missing bool) {
	provider, _, err := contract.ParseModel(model)
	if err != nil {
		return "", false
	}
	variable = provider.KeyVariable()
	return variable, variable != "" && strings.TrimSpace(getenv(variable)) == ""
}

// BlobURL is where values go that are too large for history; blobstore.Open
// takes it. The default is a private folder in DataDir.
func (c *Config) BlobURL() string {
	if c.Blobs.URL != "" {
		return c.Blobs.URL
	}
	u := url.URL{Scheme: "file", RawQuery: "create_dir=1&dir_file_mode=0700&metadata=skip&no_tmp_dir=1"}
	dir := filepath.Join(c.DataDir, "blobs")
	if abs, err := filepath.Abs(dir); err == nil {
		u.Path = filepath.ToSlash(abs)
	} else { // no working directory; opening it will say so
		u.Host, u.Path = ".", "/"+filepath.ToSlash(dir)
	}
	if !strings.HasPrefix(u.Path, "/") { // C:/data
		u.Path = "/" + u.Path
	}
	return u.String()
}
