package backend

import (
	"context"
	"errors"
	"strings"

	"go.temporal.io/api/serviceerror"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Tree implements Conversations.
func (t *Temporal) Tree(ctx context.Context, id string) (contract.TreeView, error) {
	var view contract.TreeView
	open, err := t.query(ctx, contract.ConversationWorkflowID(id), contract.QueryTree, &view)
	switch {
	case isNotFound(err):
		return view, service.NoConversation(id)
	case isUnknownQuery(err):
		return view, service.Errorf(service.KindUnavailable, "no worker answers that knows of trees: those that run are of an older version").Because(err)
	case err != nil:
		return view, fault(err, "query a tree")
	}
	if s := view.State.Status; !open && (s == contract.NodeRunning || s == contract.NodeWaiting) {
		view.State.Status = contract.NodeCancelled // it was terminated, and its last state says otherwise
	}
	return view, nil
}

// isUnknownQuery reports whether the worker that answered does not have the query. The SDK
// only says so in the text.
func isUnknownQuery(err error) bool {
	var failed *serviceerror.QueryFailed
	return errors.As(err, &failed) && strings.HasPrefix(failed.Message, "unknown queryType")
}
