package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// node is a node of a tree as the API shows it.
type node struct {
	Name, Type, Status, Output, Run string
	Path                            []int
	Iteration                       int
	DurationMS                      *int64 `json:"duration_ms"`
	Approvals                       []string
	Usage                           struct {
		Input int `json:"input_tokens"`
	}
	Agents []node
}

func (a *api) tree(id string) node {
	a.t.Helper()
	raw := a.do("GET", "/conversations/"+id+"/tree", "")
	var view struct {
		ConversationID string `json:"conversation_id"`
		Turn           int
		Tree           node
	}
	if err := json.Unmarshal([]byte(raw.Raw), &view); err != nil || raw.Status != 200 || view.ConversationID != id {
		a.t.Fatalf("the tree: status %d, %v: %s", raw.Status, err, raw.Raw)
	}
	return view.Tree
}

// statuses formats a tree: name:status, with inner nodes in brackets.
func (a *api) statuses(id string) string {
	a.t.Helper()
	return a.tree(id).String()
}

func (n node) String() string {
	out := fmt.Sprintf("%s:%s", n.Name, n.Status)
	if n.Agents == nil {
		return out
	}
	var inside []string
	for _, a := range n.Agents {
		inside = append(inside, a.String())
	}
	return out + "[" + strings.Join(inside, " ") + "]"
}

// at returns the node with a name.
func (n node) at(name string) node {
	if n.Name == name {
		return n
	}
	for _, a := range n.Agents {
		if found := a.at(name); found.Name != "" {
			return found
		}
	}
	return node{}
}

// becomes waits until the tree's statuses are as given.
func (a *api) becomes(id, want string) {
	a.t.Helper()
	got := ""
	defer func() {
		if got != want {
			a.t.Logf("the tree is %s", got)
		}
	}()
	eventually(a.t, "the tree is "+want, func() bool {
		got = a.statuses(id)
		return got == want
	})
}

// texts lists the outputs of nodes: the assistant messages that are not calls.
func (c conversation) texts() []string {
	var out []string
	for _, m := range c.Messages {
		if m.Role == "assistant" && m.ToolCall == nil {
			out = append(out, m.Content)
		}
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
