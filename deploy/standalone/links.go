package main

import (
	"net/url"

	"agent-stop-and-go/workflows/contract"
)

// approvalsURL returns the URL of the Web UI's list of pending approvals.
func approvalsURL(ui, namespace string) string {
	query := "`WorkflowType`=\"" + contract.WorkflowApproval + "\" AND `ExecutionStatus`=\"Running\""
	return ui + "/namespaces/" + url.PathEscape(namespace) + "/workflows?query=" + url.QueryEscape(query)
}
