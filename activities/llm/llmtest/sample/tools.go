package sample

import (
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
)

// Tool returns a tool on offer.
func Tool(name, about, schema string, destructive bool) contract.Tool {
	return contract.Tool{Name: name, Description: about, InputSchema: json.RawMessage(schema), DestructiveHint: destructive}
}

// Resources are the tools of mcp-resources.
var Resources = []contract.Tool{
	Tool("resources_add", "Add a new resource", `{"type":"object","properties":{"name":{"type":"string","description":"Name of the resource"},"value":{"type":"integer","description":"Value of the resource"}},"required":["name","value"]}`, true),
	Tool("resources_remove", "Remove resources by ID or by pattern", `{"type":"object","properties":{"id":{"type":"string"},"pattern":{"type":"string","description":"Regular expression that names match"}}}`, true),
	Tool("resources_list", "List resources, all or those that match a pattern", `{"type":"object","properties":{"pattern":{"type":"string","description":"Regular expression"}}}`, false),
}

// Offer returns two tools: one with a large schema, one without.
func Offer() []contract.Tool {
	return []contract.Tool{
		Tool("resources.remove", "Remove resources", `{
			"type":"object","properties":{"filter":{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9]+$"},
			"limit":{"type":"integer","maximum":9007199254740993}},"additionalProperties":false}},"required":["filter"],
			"$defs":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, true),
		Tool("ping", "", ``, false),
	}
}
