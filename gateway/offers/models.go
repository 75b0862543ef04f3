package offers

import (
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
)

// KindNoModel is the kind of the error for a model that there is not. Its status is 404.
const KindNoModel contract.Kind = "model_not_found"

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

// Names lists all names: the agent's, then its nodes', then those with a model.
func (m Models) Names() []string {
	names := []string{m.Agent.Name}
	for _, n := range m.Nodes() {
		names = append(names, m.Agent.Name+":"+n.Name)
	}
	for _, model := range choice.Names(m.Agent) {
		names = append(names, m.Agent.Name+"@"+model)
	}
	return names
}

// latest is the tag that Ollama's clients add to a name without one.
const latest = ":latest"

// Target returns what a name means. An empty name is the agent.
func (m Models) Target(name string) (Target, error) {
	t, err := m.target(name)
	if plain, tagged := strings.CutSuffix(name, latest); err != nil && tagged {
		if known, unknown := m.target(plain); unknown == nil {
			known.Name = name
			return known, nil
		}
	}
	return t, err
}

func (m Models) target(name string) (Target, error) {
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
