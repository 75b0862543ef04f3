// Package clients has the settings of chat programs that reach the agent in their own way.
//
//	clients.go  Clients, all of them
//	slack.go    Slack
package clients

// Clients are the chat programs. Those that are nil are off.
type Clients struct {
	Slack *Slack `yaml:"slack" jsonschema_description:"Slack: direct messages to the agent's app and mentions of it, over Socket Mode. {} turns it on. See deploy/SLACK.md."`
}

// Check reports what is wrong with the settings, by their keys.
func (c Clients) Check(report func(key, problem string)) {
	c.Slack.Check(func(key, problem string) { report("slack."+key, problem) })
}
