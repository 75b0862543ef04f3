package clients

import "slices"

// Ollama is a port on which the agent is a model of Ollama. A nil *Ollama is none.
type Ollama struct {
	Port int `yaml:"port" jsonschema:"default=11434,minimum=1,maximum=65535" jsonschema_description:"The port. It is on host if auth says who may call, and on this machine only otherwise."`
}

func (o *Ollama) check(others []int, report func(key, problem string)) {
	if o != nil && slices.Contains(others, o.Port) {
		report("port", "is the port of something else of this agent")
	}
}
