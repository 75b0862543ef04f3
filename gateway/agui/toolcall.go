package agui

import "agent-stop-and-go/workflows/contract"

// ToolCallID is the AG-UI ID of the call that a pending approval is about, or nothing.
func ToolCallID(st State, p contract.PendingApproval) string {
	c := caller{items: viewOf(st).items, taken: map[string]bool{}}
	return c.callOf(p)
}
