package main

import (
	"fmt"
	"strings"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract"
)

// shownRule is a rule as people see it: a named one, or what another key of the file means.
type shownRule struct {
	// Name is the rule's name, or the path of the key.
	Name string `json:"name"`
	When string `json:"when"`
	Then string `json:"then"`
	// Named rules count before all others.
	Named bool `json:"named"`
}

// allRules lists the named rules, and then what the other keys of the file say about calls, in the
// order in which they count: the first that is about a call decides.
func allRules(c *config.Config) []shownRule {
	var out []shownRule
	for _, r := range c.Policy().Rules() {
		out = append(out, shownRule{r.Name, r.When, thenText(r.Then), true})
	}
	add := func(name, when, then string) { out = append(out, shownRule{Name: name, When: when, Then: then}) }
	for i, s := range c.MCPServers {
		path := fmt.Sprintf("mcp_servers[%d]", i)
		for _, key := range []struct {
			name, then string
			tools      []string
		}{{"destructive", "ask", s.Destructive}, {"safe", "allow", s.Safe}} {
			if len(key.tools) > 0 {
				add(path+"."+key.name, fmt.Sprintf("server == %q && tool in %s", s.Name, quotedList(key.tools, prefixOf(s))), key.then)
			}
		}
		then := "ask"
		if s.Unannotated == "run" {
			then = "allow"
		}
		add(path+".unannotated", fmt.Sprintf("server == %q, and it says nothing of the tool", s.Name), then)
	}
	for _, a := range c.Delegates() {
		then := "allow"
		if a.DestructiveHint {
			then = "ask"
		}
		add("a2a "+a.Name+".destructiveHint", fmt.Sprintf("tool == %q", contract.Peer{Name: a.Name}.Tool()), then)
	}
	add("hints of the tool", "annotations.destructive", "ask")
	add("hints of the tool", "!annotations.destructive", "allow")
	return append(out, nodeRules(c)...)
}

// nodeRules are the nodes that run destructive calls at once.
func nodeRules(c *config.Config) (out []shownRule) {
	for _, n := range c.AutoRunNodes() {
		out = append(out, shownRule{
			Name: "node " + n.Name + ".approval", When: fmt.Sprintf("node == %q, and no named rule is about the call", n.Name), Then: "allow",
		})
	}
	return out
}

func thenText(t policy.Then) string {
	if t.Deny != "" {
		return fmt.Sprintf("deny: %q", t.Deny)
	}
	a := t.Ask
	if a == nil {
		return t.Outcome
	}
	var parts []string
	if len(a.By) > 0 {
		parts = append(parts, "by "+strings.Join(a.By, ", "))
	}
	if a.NotRequester {
		parts = append(parts, "not_requester")
	}
	if a.Count > 1 {
		parts = append(parts, fmt.Sprint(a.Count, " people"))
	}
	if a.Expires > 0 {
		parts = append(parts, "expires "+a.Expires.String()+", then "+strings.TrimSpace(a.OnExpiry+" "+strings.Join(a.Escalate, ", ")))
	}
	if len(a.Edit) > 0 {
		parts = append(parts, "edit "+strings.Join(a.Edit, ", "))
	}
	if len(parts) == 0 {
		return "ask"
	}
	return "ask: " + strings.Join(parts, "; ")
}

// prefixOf is what stands before the names of a server's tools.
func prefixOf(s config.MCPServer) string {
	if !s.Prefix {
		return ""
	}
	return s.Name + "__"
}

func quotedList(names []string, prefix string) string {
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("%q", prefix+name))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
