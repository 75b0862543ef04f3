package clients

import "slices"

// API is a port with the API of MCP Agent, for its clients. A nil *API is none.
type API struct {
	Port int `yaml:"port" jsonschema:"default=8767,minimum=1,maximum=65535" jsonschema_description:"The port. It is on host if auth says who may call, and on this machine only otherwise."`
}

// Shell is a port with the API of MCP Agent's shell. A nil *Shell is none.
type Shell struct {
	Port int `yaml:"port" jsonschema:"default=8765,minimum=1,maximum=65535" jsonschema_description:"The port. It is on host if auth says who may call, and on this machine only otherwise."`
}

// Port is a port for clients of another protocol. Key is that of its settings, below clients.
type Port struct {
	Key, Name string
	Port      int
}

// Ports lists the ports that are on.
func (c Clients) Ports() (out []Port) {
	if c.Ollama != nil {
		out = append(out, Port{"ollama", "Ollama", c.Ollama.Port})
	}
	if c.API != nil {
		out = append(out, Port{"api", "MCP Agent", c.API.Port})
	}
	if c.Shell != nil {
		out = append(out, Port{"shell", "the shell of MCP Agent", c.Shell.Port})
	}
	return out
}

// checkPorts reports ports that are those of something else.
func (c Clients) checkPorts(others []int, report func(key, problem string)) {
	for _, p := range c.Ports() {
		if slices.Contains(others, p.Port) {
			report(p.Key+".port", "is the port of something else of this agent")
		}
		others = append(slices.Clone(others), p.Port)
	}
}
