package wording

import (
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// WithNodeName returns a text of a node inside a tree.
func WithNodeName(node, text string) string { return "[" + node + "] " + text }

// TimedOut returns the output of a node that has used up its time.
func TimedOut(budget time.Duration) string {
	return fmt.Sprintf("Timed out after %s of work.", budget.Round(time.Millisecond))
}

// PipelineError returns the output of a composite node whose workflow failed.
func PipelineError(f Failure) string { return "Pipeline error: " + f.Message }

// NodeSummary returns the line that the Web UI shows for a composite node.
func NodeSummary(n contract.Node) string {
	return fmt.Sprintf("%s · %s of %d", n.Name, n.Type, len(n.Nodes))
}

// AfterRejectedNode returns the reply of a turn that a rejection ended, with the completed
// leaves and the others. A leaf in a loop may be in both lists.
func AfterRejectedNode(root contract.Node, r contract.NodeResult) string {
	done, not := leavesByOutcome(root, r.Counts)
	text := r.Output.Short()
	if len(done) > 0 {
		text += "\n\nDone: " + listed(done) + "."
	}
	if len(not) > 0 {
		text += "\n\nNot done: " + listed(not) + "."
	}
	return text
}

const mostListed = 20

func listed(names []string) string {
	more := ""
	if n := len(names) - mostListed; n > 0 {
		names, more = names[:mostListed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

// leavesByOutcome lists the completed leaves of a tree, and the others.
func leavesByOutcome(n contract.Node, tally []contract.Counts) (done, not []string) {
	if n.Composite() {
		for _, inside := range n.Nodes {
			d, o := leavesByOutcome(inside, tally)
			done, not = append(done, d...), append(not, o...)
		}
		return done, not
	}
	t := contract.Counts{Node: n.Name}
	for _, counted := range tally {
		if counted.Node == n.Name {
			t = counted
		}
	}
	switch {
	case t.Done == 1:
		done = append(done, n.Name)
	case t.Done > 1:
		done = append(done, fmt.Sprintf("%s (%d times)", n.Name, t.Done))
	}
	switch {
	case t.Rejected > 0:
		not = append(not, n.Name+" (rejected)")
	case t.Failed > 0:
		not = append(not, n.Name+" (failed)")
	case t.Done == 0:
		not = append(not, n.Name+" (skipped)")
	}
	return done, not
}

// NodeDetails returns the page of a composite node in the Temporal Web UI: the nodes inside
// with their states, and the open approvals.
func NodeDetails(n contract.Node, s contract.NodeState, open []contract.OpenApproval, c Console) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s · %s · %s", n.Name, n.Type, s.Status)
	if n.Type == contract.NodeLoop {
		fmt.Fprintf(&b, " · iteration %d of at most %d", s.Iteration, n.Iterations())
	}
	b.WriteString("\n\n")
	for i, inside := range n.Nodes {
		state, known := s.At(i, len(n.Nodes))
		status := state.Status
		switch {
		case !known:
			status = "ended"
		case status == "":
			status = contract.NodePending
		}
		fmt.Fprintf(&b, "%d. **%s** (%s): %s\n", i+1, inside.Name, inside.Type, status)
	}
	for _, o := range open {
		b.WriteString("\n---\n\n" + waiting(o.Approval, c))
	}
	return b.String()
}

func waiting(p contract.PendingApproval, c Console) string {
	return fmt.Sprintf("Approval `%s` waits since %s.\n\n%s\n\n%s",
		contract.ApprovalWorkflowID(p.UUID), stamp(p.CreatedAt), quoted(Visible(p.Description)), commands(p, c))
}
