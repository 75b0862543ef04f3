package clients

// Ollama is a port on which the agent is a model of Ollama. A nil *Ollama is none.
type Ollama struct {
	Port int `yaml:"port" jsonschema:"default=11434,minimum=1,maximum=65535" jsonschema_description:"The port. It is on host if auth says who may call, and on this machine only otherwise."`
}
