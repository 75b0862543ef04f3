package agui

import "agent-stop-and-go/workflows/contract"

// ToolCallID returns the AG-UI ID of the call that a pending approval is about, or "".
func ToolCallID(st State, p contract.PendingApproval) string {
	c := callFinder{items: viewOf(st).items, used: map[string]bool{}}
	return c.callOf(p)
}
