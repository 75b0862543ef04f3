package contract

import "agent-stop-and-go/workflows/contract/mcp"

// CatalogueKind is a kind of catalogue.
type CatalogueKind string

// The kinds of catalogues. Each has its own type of result.
const (
	WantTools        CatalogueKind = ""              // Catalogue
	WantResources    CatalogueKind = "resources"     // ResourceCatalogue
	WantPrompts      CatalogueKind = "prompts"       // PromptCatalogue
	WantSystemPrompt CatalogueKind = "system-prompt" // promptversion.Reading
)

// ResourceCatalogue is the resources of the tool servers.
type ResourceCatalogue struct {
	Resources []mcp.Resource         `json:"resources"`
	Templates []mcp.ResourceTemplate `json:"templates"`
	// Servers are those that did not answer.
	Servers []ServerState `json:"servers"`
}

// PromptCatalogue is the prompts that the tool servers offer.
type PromptCatalogue struct {
	Prompts []mcp.Prompt `json:"prompts"`
	// Servers are those that did not answer.
	Servers []ServerState `json:"servers"`
}
