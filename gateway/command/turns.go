package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/record/document"
)

func (r run) tree(ctx context.Context) (Reply, error) {
	if err := r.inConversation(); err != nil {
		return Reply{}, err
	}
	tree, err := r.service.Tree(ctx, r.in.ConversationID)
	if err != nil {
		return Reply{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Turn %d\n", tree.Turn)
	drawNode(&b, tree.Tree, "  ")
	return r.says("%s", strings.TrimRight(b.String(), "\n")), nil
}

// drawNode writes a line about a node and those of the nodes inside.
func drawNode(b *strings.Builder, n document.Node, indent string) {
	fmt.Fprintf(b, "%s%s %s: %s", indent, n.Type, n.Name, n.Status)
	if n.DurationMS != nil {
		fmt.Fprintf(b, ", %s", time.Duration(*n.DurationMS)*time.Millisecond)
	}
	if n.MaxIterations > 0 {
		fmt.Fprintf(b, ", iteration %d of at most %d", n.Iteration, n.MaxIterations)
	}
	if n.Model != "" {
		fmt.Fprintf(b, ", %s", n.Model)
	}
	for _, uuid := range n.Approvals {
		fmt.Fprintf(b, ", waits for approval %s", shortApproval(uuid))
	}
	b.WriteByte('\n')
	for _, child := range n.Agents {
		drawNode(b, child, indent+"  ")
	}
}

func (r run) cancel(ctx context.Context) (Reply, error) {
	if err := r.inConversation(); err != nil {
		return Reply{}, err
	}
	note, err := r.caller.Note(service.Note{Reason: r.argument, By: r.in.By})
	if err != nil {
		return Reply{}, err
	}
	request := r.request("!cancel")
	known, err := r.service.CancelTurn(ctx, r.caller, request, note)
	switch {
	case err != nil:
		return Reply{}, err
	case known == nil:
		return r.says("The turn is being cancelled."), nil
	}
	answer, err := r.service.Reply(ctx, request, *known)
	if err != nil {
		return Reply{}, err
	}
	if answer.Result == nil {
		return r.says("The turn is cancelled."), nil
	}
	return r.says("%s", answer.Result.Response), nil
}
