// Package clients has the settings of clients that reach the agent in their own way.
//
//	clients.go  Clients, all of them
//	slack.go    Slack; ollama.go Ollama; agentapi.go API and Shell, and the list of all ports
package clients

// Clients are the settings of all of them. Those that are nil are off.
type Clients struct {
	Slack  *Slack  `yaml:"slack" jsonschema_description:"Slack: direct messages to the agent's app and mentions of it, over Socket Mode. {} turns it on. See deploy/SLACK.md."`
	Ollama *Ollama `yaml:"ollama" jsonschema_description:"A port on which the agent is a model of Ollama, for programs that can talk to Ollama only. {} turns it on. See gateway/README.md."`
	API    *API    `yaml:"api" jsonschema_description:"A port with the API of MCP Agent, for programs that are clients of it. {} turns it on. See gateway/README.md."`
	Shell  *Shell  `yaml:"shell" jsonschema_description:"A port with the API of MCP Agent's shell. {} turns it on. See gateway/README.md."`
}

// Check reports what is wrong with the settings, by their keys. others are the ports on which the rest
// of the agent listens.
func (c Clients) Check(others []int, report func(key, problem string)) {
	c.checkPorts(others, report)
	c.Slack.Check(func(key, problem string) { report("slack."+key, problem) })
}
