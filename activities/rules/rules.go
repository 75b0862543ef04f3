// Package rules has the calls of an activity judged by the named rules of the agent.
package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/activities/toolbox/facts"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Policy is the named rules of an agent.
type Policy interface {
	// Judge returns nil for a call that no rule is about.
	Judge(verdict.Call) *verdict.Verdict
	// FactsFor returns the names of the facts that Judge needs of the call's server.
	FactsFor(verdict.Call) []string
	// Version identifies the rules.
	Version() string
}

// Servers tell facts about calls of their tools.
type Servers interface {
	Facts(ctx context.Context, tool toolbox.Tool, name string, args json.RawMessage, bearer string) (facts.Answer, error)
}

// factTime bounds how long servers are asked for facts about one reply. What is not known then
// asks.
const factTime = 3 * time.Second

// Judge judges the calls of one reply.
type Judge struct {
	Policy  Policy
	Servers Servers
	// About has what all calls of the reply share, and those before.
	About verdict.Call
	// Grants are the standing grants of the agent; nil has none. Conversation and Draft are the reply's.
	Grants              Grants
	Conversation, Draft string

	asked     time.Duration // time that servers had so far
	previews  time.Duration // and for previews
	previewed int           // bytes of previews so far
}

// Call asks the rules about a call of a tool with final arguments. A tool of our own, which Server
// does not name, may name its server in the arguments. It returns nil for a call that no rule is
// about.
func (j *Judge) Call(ctx context.Context, tool toolbox.Tool, ours bool, args json.RawMessage) *verdict.Verdict {
	if j.Policy == nil {
		return nil
	}
	if trimmed := bytes.TrimSpace(args); len(trimmed) == 0 || string(trimmed) == "null" {
		args = json.RawMessage(`{}`)
	}
	c := withHints(j.About, tool)
	c.Tool, c.Server, c.Arguments, c.Names = tool.Name, tool.Server, args, namesIn(tool.InputSchema)
	if ours {
		c.Server = toolbox.Call{Server: tool.Server, Arguments: args}.To()
	}
	shown := j.addFacts(ctx, &c, tool)
	v := j.granted(ctx, c, tool, j.Policy.Judge(c))
	if v != nil && len(shown) > 0 {
		v.Facts, _ = json.Marshal(shown) // of valid JSON
	}
	return v
}

// Basis returns what a call of a tool is judged by, so that it can be judged again while it waits;
// nil without rules.
func (j *Judge) Basis(tool toolbox.Tool) json.RawMessage {
	if j.Policy == nil {
		return nil
	}
	b := withHints(j.About, tool).Basis()
	b.Policy = j.Policy.Version()
	raw, _ := json.Marshal(b) // texts and numbers
	return raw
}

func withHints(c verdict.Call, tool toolbox.Tool) verdict.Call {
	c.ReadOnly, c.Destructive, c.Idempotent = tool.ReadOnly, tool.DestructiveHint, tool.Idempotent
	return c
}

// addFacts asks the call's server for what the rules need to know. It returns what is recorded.
func (j *Judge) addFacts(ctx context.Context, c *verdict.Call, tool toolbox.Tool) map[string]json.RawMessage {
	names := j.Policy.FactsFor(*c)
	if len(names) == 0 {
		return nil
	}
	c.ServerFacts, c.FactProblems = map[string]map[string]any{}, map[string]string{}
	shown := map[string]json.RawMessage{}
	for _, name := range names {
		answer, err := j.ask(ctx, tool, name, c.Arguments, &j.asked)
		if err != nil {
			c.FactProblems[name] = err.Error()
			continue
		}
		c.ServerFacts[name], shown[name] = answer.Values, answer.Shown
	}
	return shown
}

// ask asks within the time that spent leaves, and adds to it.
func (j *Judge) ask(ctx context.Context, tool toolbox.Tool, name string, args json.RawMessage, spent *time.Duration) (facts.Answer, error) {
	if _, told := tool.Facts[name]; !told || j.Servers == nil {
		return facts.Answer{}, fmt.Errorf("no server tells the facts %s of %s", name, tool.Name)
	}
	if *spent >= factTime {
		return facts.Answer{}, fmt.Errorf("%s: no time is left: servers had %s for the facts of this reply", tool.Server, factTime)
	}
	began := time.Now()
	defer func() { *spent += time.Since(began) }()
	ctx, cancel := context.WithTimeoutCause(ctx, factTime-*spent, fmt.Errorf("the facts did not come within %s", factTime))
	defer cancel()
	token := ""
	if tokens := bearer.FromContext(ctx); tokens != nil {
		token = tokens.Get(ctx, tool.Server)
	}
	return j.Servers.Facts(ctx, tool, name, args, token)
}

// maxPreview bounds what a person is shown of a preview, maxPreviews of all previews of a reply, in
// bytes: they are in the history.
const (
	maxPreview  = 16 << 10
	maxPreviews = 48 << 10
)

// Preview asks the call's server what the call would change, for the person who is asked about it. It
// is empty if the server does not say such things, and says why if it could not.
func (j *Judge) Preview(ctx context.Context, tool toolbox.Tool, args json.RawMessage) string {
	if _, told := tool.Facts[facts.Preview]; !told || j.Servers == nil {
		return ""
	}
	if j.previewed >= maxPreviews {
		return "It is not shown what this changes: the calls of this reply change too much"
	}
	answer, err := j.ask(ctx, tool, facts.Preview, args, &j.previews)
	text, most := answer.Text, min(maxPreview, maxPreviews-j.previewed)
	switch {
	case err != nil:
		return "It is not known what this changes: " + err.Error()
	case len(text) > most:
		text = fmt.Sprintf("NOT ALL OF IT IS SHOWN: it has %d bytes\n%s", len(text), strings.ToValidUTF8(text[:most], ""))
	}
	j.previewed += len(text)
	return text
}

// Next adds a call to those that the following ones see before them in the reply.
func (j *Judge) Next(tool string) {
	j.About.Reply = append(j.About.Reply, verdict.Earlier{Tool: tool})
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
			if c.Used != "" { // by a tool of the agent itself
				out = append(out, verdict.Earlier{Tool: c.Used, Failed: c.IsError})
			}
		case m.Role == contract.RoleAssistant && c.Verdict.Holding():
			held[m.ID] = true
		}
	}
	return out
}
