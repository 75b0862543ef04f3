package config

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Agent returns the agent of new conversations: the settings at the top of the file and the
// Tree. A single llm agent takes them from its node first. Long prompts are stored.
func (c *Config) Agent(ctx context.Context, store transcript.Store) (contract.Agent, error) {
	a := contract.Agent{
		Name: c.AgentName(), Description: c.Description, Model: c.Model(),
		MaxToolRounds: c.MaxToolRounds, Execution: c.Execution, ApprovalTimeout: c.Approval.Timeout, Approvers: c.Approval.Approvers, Webhooks: len(c.Approval.Webhooks) > 0,
		Models: c.routes(), Choices: c.choices(), Limits: c.Limits.Contract(),
	}
	if c.Approval.CallAs == CallAsApprover {
		a.CallAs = contract.CallAsApprover
	}
	prompt := c.Prompt.System()
	if c.Root == nil || c.single() && c.Root.Prompt == "" {
		a.PromptVersion = c.Prompt.Version()
	}
	switch {
	case c.Root == nil:
		a.Peers = peersOf(c.A2A)
	case c.single():
		a.Description = cmp.Or(c.Root.Description, c.Description)
		a.MaxToolRounds = cmp.Or(c.Root.MaxToolRounds, c.MaxToolRounds)
		a.Node = a.Name
		prompt = cmp.Or(c.Root.Prompt, prompt)
	}
	var err error
	if a.Prompt, err = transcript.Text(ctx, store, prompt); err != nil {
		return contract.Agent{}, fmt.Errorf("keep the prompt of %s: %w", a.Name, err)
	}
	if a.Tree, err = c.Tree(ctx, store); err != nil {
		return contract.Agent{}, err
	}
	return a, nil
}

// AgentName returns the name of the agent: that of its node, if it is a single one with a name.
func (c *Config) AgentName() string {
	if c.Root != nil && c.single() {
		return cmp.Or(c.Root.Name, c.Name)
	}
	return c.Name
}

// BlobURL is the URL of the store for values too large for history, for blobstore.Open. The
// default is a private folder in DataDir.
func (c *Config) BlobURL() string {
	if c.Blobs.URL != "" {
		return c.Blobs.URL
	}
	u := url.URL{Scheme: "file", RawQuery: "create_dir=1&dir_file_mode=0700&metadata=skip&no_tmp_dir=1"}
	dir := filepath.Join(c.DataDir, "blobs")
	if abs, err := filepath.Abs(dir); err == nil {
		u.Path = filepath.ToSlash(abs)
	} else { // no working directory; opening it will fail
		u.Host, u.Path = ".", "/"+filepath.ToSlash(dir)
	}
	if !strings.HasPrefix(u.Path, "/") { // C:/data
		u.Path = "/" + u.Path
	}
	return u.String()
}
