package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/activities/systemprompt"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/mcp"
	"agent-stop-and-go/workflows/record/transcript"
)

// ListTools lists the offered tools and the problems. Resources and prompts are those of all
// servers, listed without a caller's credential.
func (t *Tools) ListTools(ctx context.Context, in contract.ListToolsInput) (contract.CatalogueResult, error) {
	var list any
	switch in.Kind {
	case contract.WantTools:
		list = t.toolCatalogue(ctx)
	case contract.WantResources:
		list = t.resourceCatalogue(ctx)
	case contract.WantPrompts:
		list = t.promptCatalogue(ctx)
	case contract.WantSystemPrompt:
		list = systemprompt.Read(ctx, t.Caller, in.Server)
	default:
		return contract.CatalogueResult{}, fail(contract.KindInvalid, fmt.Sprintf("nothing is known of %q", in.Kind), 0)
	}
	body, err := json.Marshal(list)
	if err != nil {
		return contract.CatalogueResult{}, fail(contract.KindInternal, "encode the catalogue: "+err.Error(), 0)
	}
	value, err := transcript.JSON(ctx, t.Blobs, body)
	if err != nil {
		return contract.CatalogueResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	check, err := t.checkStore(ctx, in.Probe)
	if err != nil {
		return contract.CatalogueResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	return contract.CatalogueResult{Body: value, Store: check}, nil
}

// checkStore looks for the gateway's probe, and stores one for the gateway to look for.
func (t *Tools) checkStore(ctx context.Context, probe *contract.Blob) (*contract.StoreCheck, error) {
	if probe == nil || t.Probe == nil {
		return nil, nil
	}
	own, err := t.Probe.Put(ctx)
	if err != nil {
		return nil, err
	}
	check := &contract.StoreCheck{Own: own, Probe: *probe}
	if _, err := t.Blobs.Get(ctx, *probe); err != nil {
		check.Problem = err.Error()
	}
	return check, nil
}

func (t *Tools) toolCatalogue(ctx context.Context) contract.Catalogue {
	c := contract.Catalogue{Tools: []contract.Tool{}, Servers: []contract.ServerState{}, Model: t.Model, Notes: t.Notes}
	for _, tool := range t.Caller.Tools(ctx) {
		c.Tools = append(c.Tools, tool.Tool)
	}
	c.Servers = append(c.Servers, t.Caller.States()...)
	c.Problems = slices.Concat(t.Problems, t.Caller.Conflicts())
	if t.RuleProblems != nil {
		c.Problems = append(c.Problems, t.RuleProblems()...)
	}
	return c
}

func (t *Tools) resourceCatalogue(ctx context.Context) contract.ResourceCatalogue {
	resources, err := t.Caller.Resources(ctx)
	c := contract.ResourceCatalogue{Resources: []mcp.Resource{}, Templates: []mcp.ResourceTemplate{}, Servers: t.unavailable(err)}
	for _, r := range resources {
		if r.Template {
			c.Templates = append(c.Templates, mcp.ResourceTemplate{
				Server: r.Server, URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
			})
			continue
		}
		c.Resources = append(c.Resources, mcp.Resource{
			Server: r.Server, URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType, Size: r.Size,
		})
	}
	return c
}

func (t *Tools) promptCatalogue(ctx context.Context) contract.PromptCatalogue {
	prompts, err := t.Caller.Prompts(ctx)
	c := contract.PromptCatalogue{Prompts: []mcp.Prompt{}, Servers: t.unavailable(err)}
	for _, p := range prompts {
		prompt := mcp.Prompt{
			Server: p.Server, Name: p.Name, Title: p.Title, Description: p.Description, Arguments: []mcp.PromptArgument{},
		}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, mcp.PromptArgument(a))
		}
		c.Prompts = append(c.Prompts, prompt)
	}
	return c
}

// unavailable returns the states of the servers that did not answer, with the reason. It may
// include a ready server that refused or took too long.
func (t *Tools) unavailable(err error) []contract.ServerState {
	out := []contract.ServerState{}
	if err == nil {
		return out
	}
	reasons := map[string]string{}
	for _, f := range toolbox.Failures(err) {
		reasons[f.Server] = f.Reason()
	}
	for _, s := range t.Caller.States() {
		if reason, failed := reasons[s.Name]; failed {
			s.Error = reason
			out = append(out, s)
		}
	}
	return out
}
