package activities

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

func (m *Models) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// judged is the part of a call to judge that all calls of a reply share.
func (q modelRequest) judged(in contract.GenerateInput, at time.Time) verdict.Call {
	return verdict.Call{Node: in.Node, Facts: in.Facts, Time: at, Before: q.earlier}
}

// judge asks the rules about a call with final arguments.
func (m *Models) judge(c verdict.Call, tool offeredTool, args json.RawMessage) *verdict.Verdict {
	if m.Policy == nil {
		return nil
	}
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		args = json.RawMessage(`{}`)
	}
	c.Tool, c.Server, c.Arguments, c.Names = tool.Name, tool.Server, args, argumentNames(tool.InputSchema)
	if tool.peer == nil && !tool.client { // a tool of our own names its server in the arguments
		c.Server = toolbox.Call{Server: tool.Server, Arguments: args}.To()
	}
	c.ReadOnly, c.Destructive, c.Idempotent = tool.bound.ReadOnly, tool.DestructiveHint, tool.bound.Idempotent
	return m.Policy.Judge(c)
}

// argumentNames are the arguments that a schema names.
func argumentNames(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil { // a schema that names none
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// earlierCalls lists the calls that have run and have a result, oldest first. It is never nil.
func earlierCalls(messages []contract.Message) []verdict.Earlier {
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

// judgeDelegation asks the rules about the delegation of an a2a node.
func (t *Texts) judgeDelegation(d *contract.JudgedDelegation, args json.RawMessage) *verdict.Verdict {
	if t.Policy == nil || d == nil {
		return nil
	}
	return t.Policy.Judge(verdict.Call{
		Tool: d.Tool, Destructive: d.Destructive, Arguments: args, Node: d.Node, Facts: d.Facts, Time: time.Now(),
	})
}
