package choice

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// Inside returns what is demanded of the calls of node i inside a composite node. Single is for
// every node. Call is for one of a tree: the first llm node, in the order of the file, that offers
// one of the tools. In a loop it is for the first iteration; iteration is 0 in other nodes.
func Inside(in contract.NodeInput, i, iteration int) toolchoice.Choice {
	takes := func(n contract.Node) bool { return takesOne(n, in.ToolChoice.Call) }
	if iteration > 1 || slices.IndexFunc(in.Node.Nodes, takes) != i {
		return in.ToolChoice.Later()
	}
	return in.ToolChoice
}

// takesOne reports whether a node, or one inside it, is an llm node that offers one of the sender's
// tools.
func takesOne(n contract.Node, tools []string) bool {
	if n.Composite() {
		return slices.ContainsFunc(n.Nodes, func(n contract.Node) bool { return takesOne(n, tools) })
	}
	offers := func(tool string) bool { return slices.Contains(n.Tools, tool) }
	return n.Type == contract.NodeLLM && (n.Tools == nil || slices.ContainsFunc(tools, offers))
}
