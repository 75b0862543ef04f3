package mcpserver

import (
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// outcome is the structured result of a call.
type outcome struct {
	Conversation string    `json:"conversation"`
	Status       string    `json:"status"` // completed, waiting, failed or cancelled
	Response     string    `json:"response"`
	Waiting      []waiting `json:"waiting,omitempty"`
}

// waiting is something that waits for a person.
type waiting struct {
	ID          string `json:"id"`
	Tool        string `json:"tool"`
	Description string `json:"description"`
	Reason      string `json:"reason,omitempty"`
	URL         string `json:"url"`
}

// link returns the address at which an approval is shown and decided.
func link(c service.Caller, uuid string) string { return c.BaseURL + "/#/a/" + uuid }

// result returns the result of a call. Its text has cards of what waits.
func result(r exchange.Reply, c service.Caller) *mcp.CallToolResult {
	out := outcome{Conversation: r.State.View.ID, Status: "completed", Response: r.Text}
	text := r.Text
	switch r.Outcome {
	case contract.OutcomeFailed:
		out.Status = "failed"
	case contract.OutcomeCancelled:
		out.Status = "cancelled"
	}
	for _, p := range r.Waiting {
		where := link(c, p.UUID)
		out.Status = "waiting"
		out.Waiting = append(out.Waiting, waiting{p.UUID, p.ToolName, p.Description, passcode.Why(p), where})
		if text != "" {
			text += "\n\n"
		}
		text += passcode.Card(p, where, "")
	}
	if out.Status == "waiting" {
		text += "\n\nThe conversation is " + out.Conversation + "."
	}
	return &mcp.CallToolResult{IsError: out.Status == "failed", Content: []mcp.Content{mcp.NewTextContent(text)}, StructuredContent: out}
}

// failed returns an error as a result. id is the conversation, or "".
func failed(err error, id string) *mcp.CallToolResult {
	text := service.InternalText
	if known := new(service.Error); errors.As(service.Explain(err), &known) {
		text = known.Text
	}
	if id != "" {
		text += " (conversation " + id + ")"
	}
	return mcp.NewToolResultError(text)
}
