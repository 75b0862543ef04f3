package decide

import (
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Signed is a text of a node inside a tree.
func Signed(node, text string) string { return "[" + node + "] " + text }

// TimedOut is the output of a node that has used up its time.
func TimedOut(budget time.Duration) string { return fmt.Sprintf("Timed out after %s of work.", budget) }

// PipelineError is the output of a composite node whose workflow failed.
func PipelineError(f Failure) string { return "Pipeline error: " + f.Message }

// NodeSummary is the line the Web UI shows for a composite node.
func NodeSummary(n contract.Node) string {
	return fmt.Sprintf("%s · %s of %d", n.Name, n.Type, len(n.Nodes))
}

// AfterRejectedNode is the reply of a turn that a rejection ended: what was done
// and what was not.
func AfterRejectedNode(root contract.Node, r contract.NodeResult) string {
	var a account
	a.walk(root, r.Tree)
	text := r.Output.Short()
	if len(a.done) > 0 {
		text += "\n\nDone: " + strings.Join(a.done, ", ") + "."
	}
	if len(a.not) > 0 {
		text += "\n\nNot done: " + strings.Join(a.not, ", ") + "."
	}
	return text
}

// account lists the leaves of a tree by what became of them.
type account struct{ done, not []string }

func (a *account) walk(n contract.Node, s contract.NodeState) {
	switch {
	case !n.Composite():
		a.leaf(n.Name, s.Status)
	case s.Folded != nil: // too many to name here
		a.leaf(n.Name, s.Status)
	default:
		for i, inside := range n.Nodes {
			var state contract.NodeState
			if i < len(s.Nodes) {
				state = s.Nodes[i]
			}
			a.walk(inside, state)
		}
	}
}

func (a *account) leaf(name string, s contract.NodeStatus) {
	switch s {
	case contract.NodeDone:
		a.done = append(a.done, name)
	case "", contract.NodePending:
		a.not = append(a.not, name+" (skipped)")
	default:
		a.not = append(a.not, fmt.Sprintf("%s (%s)", name, s))
	}
}

// NodeDetails is what the Temporal Web UI shows of a composite node: the nodes
// inside with their states, and what waits.
func NodeDetails(n contract.Node, s contract.NodeState, open []contract.OpenApproval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s · %s · %s", n.Name, n.Type, s.Status)
	if n.Type == contract.NodeLoop {
		fmt.Fprintf(&b, " · iteration %d of at most %d", s.Iteration, n.Iterations())
	}
	b.WriteString("\n\n")
	for i, inside := range n.Nodes {
		var state contract.NodeState
		if i < len(s.Nodes) {
			state = s.Nodes[i]
		}
		status := state.Status
		if status == "" {
			status = contract.NodePending
		}
		fmt.Fprintf(&b, "%d. **%s** (%s): %s\n", i+1, inside.Name, inside.Type, status)
	}
	for _, o := range open {
		b.WriteString("\n---\n\n" + waiting(o.Approval))
	}
	return b.String()
}

func waiting(p contract.PendingApproval) string {
	return fmt.Sprintf("Approval `%s` waits since %s.\n\n%s\n\n%s",
		contract.ApprovalWorkflowID(p.UUID), stamp(p.CreatedAt), quoted(p.Description), commands(p.UUID))
}
