package contract

// CatalogueKind is a kind of catalogue.
type CatalogueKind string

// The kinds of catalogues. Each has its own type of result.
const (
	WantTools     CatalogueKind = ""          // Catalogue
	WantResources CatalogueKind = "resources" // ResourceCatalogue
	WantPrompts   CatalogueKind = "prompts"   // PromptCatalogue
)

// ResourceCatalogue is the resources of the tool servers.
type ResourceCatalogue struct {
	Resources []Resource         `json:"resources"`
	Templates []ResourceTemplate `json:"templates"`
	// Servers are those that did not answer.
	Servers []ServerState `json:"servers"`
}

// PromptCatalogue is the prompts that the tool servers offer.
type PromptCatalogue struct {
	Prompts []Prompt `json:"prompts"`
	// Servers are those that did not answer.
	Servers []ServerState `json:"servers"`
}

// Resource is a resource of a tool server.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"` // bytes
}

// ResourceTemplate is a family of resources, whose URI has placeholders.
type ResourceTemplate struct {
	Server      string `json:"server"`
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Prompt is a prompt of a tool server.
type Prompt struct {
	Server      string           `json:"server"`
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments"`
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}
