package activities

import (
	"bytes"
	"encoding/json"
	"time"

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
	c.Tool, c.Server, c.Arguments = tool.Name, tool.Server, args
	c.ReadOnly, c.Destructive, c.Idempotent = tool.bound.ReadOnly, tool.DestructiveHint, tool.bound.Idempotent
	return m.Policy.Judge(c)
}

// earlierCalls lists the calls with a result, oldest first.
func earlierCalls(messages []contract.Message) []verdict.Earlier {
	var out []verdict.Earlier
	for _, m := range messages {
		if m.Role == contract.RoleTool && m.ToolCall != nil {
			out = append(out, verdict.Earlier{Tool: m.ToolCall.Name, Failed: m.ToolCall.IsError})
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
