package decide

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// WithoutPrompts returns a tree as the API shows it.
func WithoutPrompts(n contract.Node) contract.Node {
	n.Prompt, n.Keys, n.Expects = contract.Text{}, nil, nil
	n.Nodes = slices.Clone(n.Nodes)
	for i := range n.Nodes {
		n.Nodes[i] = WithoutPrompts(n.Nodes[i])
	}
	return n
}
