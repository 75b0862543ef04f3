package toolbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/activities/toolbox/facts"
	"agent-stop-and-go/workflows/contract"
)

// Tool is an offered tool. DestructiveHint is our decision, not the server's hint. Server is
// empty for our own tools.
type Tool struct {
	contract.Tool
	// ReadOnly and Idempotent are the server's hints; false if not stated.
	ReadOnly   bool
	Idempotent bool
	// MayAsk means that the server may ask a person during a call.
	MayAsk bool
	// Wording is the wording of the tool's server.
	Wording contract.Wording
	// Address is the address of the tool's server, without secrets.
	Address string
	// Facts are what its server tells rules about its calls, by name.
	Facts map[string]facts.Source
}

// listedTool is a tool on the wire. The schema stays raw, because it is passed to the model as
// the server wrote it.
type listedTool struct {
	Name         string                     `json:"name"`
	Title        string                     `json:"title"`
	Description  string                     `json:"description"`
	InputSchema  json.RawMessage            `json:"inputSchema"`
	OutputSchema json.RawMessage            `json:"outputSchema"`
	Annotations  hints                      `json:"annotations"`
	Destructive  json.RawMessage            `json:"destructiveHint"`
	Meta         map[string]json.RawMessage `json:"_meta"`
}

// parseTools parses the pages of tools/list: the offered tools, sorted by name. Of equal names
// one is offered, a destructive one if there is any; tools without a name are not. usable are
// the tools that the protocol allows to use.
func parseTools(s Server, pages []json.RawMessage, usable map[string]bool) (listing, error) {
	var out listing
	var names []string
	var sources []facts.Source
	for _, page := range pages {
		var list struct {
			Tools []listedTool `json:"tools"`
		}
		if err := json.Unmarshal(page, &list); err != nil {
			return listing{}, fmt.Errorf("decode: %w", err)
		}
		for _, lt := range list.Tools {
			if names = append(names, lt.Name); len(names) > maxItems {
				return listing{}, errTooManyItems
			}
			if source, is, err := facts.SourceOf(lt.Name, lt.Meta, lt.OutputSchema); is {
				out.sources = append(out.sources, lt.Name)
				switch {
				case err != nil:
					out.noSources = append(out.noSources, lt.Name)
				case usable[lt.Name] && !slices.Contains(s.Deny, lt.Name):
					sources = append(sources, source)
				}
				continue
			}
			if lt.Name != "" && s.offers(lt.Name) && usable[lt.Name] {
				out.tools = append(out.tools, lt.tool(s))
			}
		}
	}
	for i := range out.tools {
		out.tools[i].Facts = facts.About(s.bareName(out.tools[i].Name), sources, s.Facts)
	}
	out.unknownNames = s.unknownNames(names)
	slices.SortStableFunc(out.tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(rank(a), rank(b)))
	})
	out.tools = slices.CompactFunc(out.tools, func(a, b Tool) bool {
		if a.Name == b.Name && !slices.Contains(out.doubles, a.Name) {
			out.doubles = append(out.doubles, a.Name)
		}
		return a.Name == b.Name
	})
	return out, nil
}

func rank(t Tool) int {
	if t.DestructiveHint {
		return 0
	}
	return 1
}

func (lt listedTool) tool(s Server) Tool {
	schema := lt.InputSchema
	if len(schema) == 0 || string(schema) == "null" {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	h := hintsOf(lt.Annotations, lt.Destructive)
	approval := s.approval(lt.Name, h)
	return Tool{
		Tool: contract.Tool{
			Name:            s.toolName(lt.Name),
			Description:     cmp.Or(lt.Description, lt.Title),
			InputSchema:     schema,
			DestructiveHint: approval.Asks,
			Server:          s.Name,
			Approval:        &approval,
		},
		ReadOnly:   isTrue(h.ReadOnly) && !approval.Asks,
		Idempotent: isTrue(h.Idempotent),
		MayAsk:     s.MayAsk,
		Wording:    s.Wording,
		Address:    s.address(),
	}
}
