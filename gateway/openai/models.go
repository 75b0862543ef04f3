package openai

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
)

// Models are the names under which clients ask the agent.
type Models struct {
	Agent contract.Agent
	// Since is the time that every model has as its creation.
	Since time.Time
}

// Target is what a client asks.
type Target struct {
	// Name is the name that the client gave.
	Name string
	// Node is the name of the node, "" for the whole agent.
	Node string
	// Agent answers in new conversations, nil for that of the service.
	Agent *contract.Agent
	// Model answers this message, "" for that of the agent.
	Model string
}

// Model is an entry of the list.
type Model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Object string  `json:"object"`
	Data   []Model `json:"data"`
}

// Nodes are the nodes at the top of the agent's tree that can be asked alone: they have a name, and
// need nothing from nodes before them.
func (m Models) Nodes() []contract.Node {
	var out []contract.Node
	for _, n := range m.Agent.Root().Nodes {
		if n.Name != "" && !needsOthers(n) && !strings.ContainsAny(n.Name, ":@") {
			out = append(out, n)
		}
	}
	return out
}

func needsOthers(n contract.Node) bool {
	first := n
	for first.Composite() && len(first.Nodes) > 0 && first.Type != contract.NodeParallel {
		first = first.Nodes[0]
	}
	return len(n.Expects) > 0 || len(first.Expects) > 0
}

// names lists all names: the agent's, then its nodes', then those with a model.
func (m Models) names() []string {
	names := []string{m.Agent.Name}
	for _, n := range m.Nodes() {
		names = append(names, m.Agent.Name+":"+n.Name)
	}
	for _, model := range choice.Names(m.Agent) {
		names = append(names, m.Agent.Name+"@"+model)
	}
	return names
}

// Target returns what a name means. An empty name is the agent.
func (m Models) Target(name string) (Target, error) {
	t := Target{Name: name}
	rest, ok := strings.CutPrefix(name, m.Agent.Name)
	if name == "" {
		t.Name, rest, ok = m.Agent.Name, "", true
	}
	var model string
	if rest, model, _ = strings.Cut(rest, "@"); ok && model != "" {
		if choice.Problem(m.Agent, model) != "" {
			ok = false
		}
		t.Model = model
	}
	if node, named := strings.CutPrefix(rest, ":"); ok && named {
		nodes := m.Nodes()
		i := slices.IndexFunc(nodes, func(n contract.Node) bool { return n.Name == node })
		if ok = i >= 0; ok {
			t.Node, t.Agent = node, m.alone(nodes[i])
		}
		rest = ""
	}
	if !ok || rest != "" || strings.HasSuffix(name, "@") {
		return t, service.Errorf(KindNoModel, "the model %q does not exist; GET /v1/models lists those that do", service.Printable(name))
	}
	return t, nil
}

// alone returns the agent whose root is one of its nodes. As the root the node sees the whole
// conversation.
func (m Models) alone(n contract.Node) *contract.Agent {
	n.History = n.Type == contract.NodeLLM || n.History
	a := m.Agent
	a.Tree = &n
	return &a
}

// Plain returns an agent that only calls the model: without tools, and without the prompt.
func (m Models) Plain(t Target) *contract.Agent {
	model := t.Model
	if model == "" {
		model = modelOf(m.Agent)
	}
	a := contract.Agent{Name: m.Agent.Name, Model: model, Models: m.Agent.Models, Limits: m.Agent.Limits, Execution: m.Agent.Execution}
	a.Tree = &contract.Node{Name: "plain", Type: contract.NodeLLM, Model: model, Tools: []string{}}
	return &a
}

// modelOf returns the model of an agent, or else of the first of its nodes that has one.
func modelOf(a contract.Agent) string {
	if a.Model != "" {
		return a.Model
	}
	return firstModel(a.Root())
}

func firstModel(n contract.Node) string {
	if n.Model != "" {
		return n.Model
	}
	for _, inside := range n.Nodes {
		if model := firstModel(inside); model != "" {
			return model
		}
	}
	return ""
}

func (m Models) entry(name string) Model {
	return Model{name, "model", m.Since.Unix(), "agent-stop-and-go"}
}

// List replies with all models.
func (m Models) List(c echo.Context) error {
	list := modelList{"list", []Model{}}
	for _, name := range m.names() {
		list.Data = append(list.Data, m.entry(name))
	}
	return c.JSON(http.StatusOK, list)
}

// Show replies with one model.
func (m Models) Show(c echo.Context) error {
	t, err := m.Target(c.Param("model"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, m.entry(t.Name))
}
