// Package choice is about what people choose for a conversation or for one message: its model,
// the form of its answer, and what it calls.
// The configuration says which ones they may choose (Agent.Choices).
package choice

import (
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Names lists the models that people may choose: the agent's own, and its choices. It is empty if
// there is nothing to choose from.
func Names(a contract.Agent) []string {
	if len(a.Choices) == 0 || slices.Contains(a.Choices, a.Model) {
		return a.Choices
	}
	return append([]string{a.Model}, a.Choices...)
}

// Problem returns why people may not choose a model, or "". They may always choose none.
func Problem(a contract.Agent, model string) string {
	names := Names(a)
	switch {
	case model == "" || slices.Contains(names, model):
		return ""
	case len(names) == 0:
		return "the model of this agent cannot be chosen"
	}
	return fmt.Sprintf("the model %.60q cannot be chosen; these can be: %s", model, strings.Join(names, ", "))
}

// Take returns the agent that answers a message: with the model that the message names, or else
// with the one that was chosen for the conversation. It records in the state what was chosen.
func Take(c *contract.Carried, a contract.Agent, m contract.MessageSignal) contract.Agent {
	if m.KeepModel {
		c.Model = m.Model
	}
	if c.TurnModel = m.Model; m.Model == "" {
		c.TurnModel = c.Model
	}
	return Agent(a, c.TurnModel)
}

// Root returns the root of the agent that answers a message, as Take has it. A root that is an llm
// node answers in the form that the message asks for, unless it has its own.
func Root(c *contract.Carried, a contract.Agent, m contract.MessageSignal) contract.Node {
	root := Take(c, a, m).Root()
	if root.Type == contract.NodeLLM && root.OutputSchema.IsZero() {
		root.OutputSchema = m.OutputSchema
	}
	return root
}

// Forget removes choices that an agent does not offer, also those of messages that wait for a turn.
func Forget(c *contract.Carried, queue []contract.MessageSignal, a contract.Agent) {
	for i, m := range queue {
		if Problem(a, m.Model) != "" {
			queue[i].Model, queue[i].KeepModel = "", false
		}
	}
	if Problem(a, c.Model) != "" {
		c.Model = ""
	}
	if Problem(a, c.TurnModel) != "" {
		c.TurnModel = c.Model
	}
}

// Agent returns an agent with another model, "" for its own. Nodes of its tree that name a model
// besides that of the agent keep it.
func Agent(a contract.Agent, model string) contract.Agent {
	if model == "" || model == a.Model {
		return a
	}
	if a.Tree != nil {
		tree := node(*a.Tree, a.Model, model)
		a.Tree = &tree
	}
	a.Model = model
	return a
}

func node(n contract.Node, from, to string) contract.Node {
	if n.Model == from {
		n.Model = to
	}
	n.Nodes = slices.Clone(n.Nodes)
	for i, child := range n.Nodes {
		n.Nodes[i] = node(child, from, to)
	}
	return n
}
