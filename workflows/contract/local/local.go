// Package local names the tools of the agent itself, which need no tool server.
package local

import "time"

// Server is the server that these tools have for rules, rate limits and lists of tools. While they
// are on offer no MCP server has this name.
const Server = "agent"

// The tools.
const (
	AgentInfo        = "agent_info"
	Models           = "models"
	AskModel         = "ask_model"
	AskModelWithTool = "ask_model_with_tool"
)

// Names lists the tools.
func Names() []string { return []string{AgentInfo, Models, AskModel, AskModelWithTool} }

// MaxTime is the longest time that a call may take.
const MaxTime = 2 * time.Minute
