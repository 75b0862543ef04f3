// Package rules has the calls of an activity judged by the named rules of the agent.
package rules

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Policy is the named rules of an agent.
type Policy interface {
	// Judge returns nil for a call that no rule is about.
	Judge(verdict.Call) *verdict.Verdict
}

// Judge asks the rules about a call of a tool with final arguments. about has what all calls of a
// reply share. A tool of our own, which Server does not name, may name its server in the arguments.
func Judge(p Policy, about verdict.Call, tool toolbox.Tool, ours bool, args json.RawMessage) *verdict.Verdict {
	if p == nil {
		return nil
	}
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		args = json.RawMessage(`{}`)
	}
	c := about
	c.Tool, c.Server, c.Arguments, c.Names = tool.Name, tool.Server, args, namesIn(tool.InputSchema)
	if ours {
		c.Server = toolbox.Call{Server: tool.Server, Arguments: args}.To()
	}
	c.ReadOnly, c.Destructive, c.Idempotent = tool.ReadOnly, tool.DestructiveHint, tool.Idempotent
	return p.Judge(c)
}

// JudgeDelegation asks the rules about the delegation of an a2a node; nil is one that is not
// judged.
func JudgeDelegation(p Policy, d *verdict.Delegation, args json.RawMessage) *verdict.Verdict {
	if p == nil || d == nil {
		return nil
	}
	return p.Judge(verdict.Call{
		Tool: d.Tool, Destructive: d.Destructive, Arguments: args, Node: d.Node, Facts: d.Facts, Time: time.Now(),
	})
}

// namesIn are the arguments that a schema names.
func namesIn(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil { // a schema that names none
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// Earlier lists the calls that have run and have a result, oldest first. It is never nil.
func Earlier(messages []contract.Message) []verdict.Earlier {
	out := []verdict.Earlier{}
	held := map[string]bool{} // calls that a rule has kept from running
	for _, m := range messages {
		switch c := m.ToolCall; {
		case c == nil:
		case m.Role == contract.RoleTool && !held[m.ResultOf]:
			out = append(out, verdict.Earlier{Tool: c.Name, Failed: c.IsError})
		case m.Role == contract.RoleAssistant && c.Verdict.Holding():
			held[m.ID] = true
		}
	}
	return out
}
