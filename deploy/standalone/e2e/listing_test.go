package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

type waitingItem struct {
	UUID, Server, Reason, Description, Answer, URL string

	AgentName string          `json:"agent_name"`
	ToolArgs  json.RawMessage `json:"tool_args"`
	Truncated bool            `json:"tool_args_truncated"`
}

// waiting lists the pending approvals.
func (a *api) waiting() (items []waitingItem) {
	a.t.Helper()
	var list struct{ Approvals []waitingItem }
	if err := json.Unmarshal([]byte(a.do("GET", "/approvals", "").Raw), &list); err != nil {
		a.t.Fatal(err)
	}
	return list.Approvals
}

func TestTheListOfApprovalsIsEnoughToDecide(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	uuid := api.waits(`call note_add {"name":"card"}`).UUID
	eventually(t, "the approval is listed", func() bool { return len(api.waiting()) == 1 })
	got := api.waiting()[0]
	if got.UUID != uuid || got.Server != "counting" || got.Reason != "destructive" || got.Answer != "yes_or_no" || got.Truncated ||
		!contains(got.Description, "**NOTE_ADD**") || !contains(string(got.ToolArgs), `"name"`) || got.URL != "/approvals/"+uuid {
		t.Errorf("%+v", got)
	}
}

func TestAnApprovalThatAnOperatorTerminatesSaysSo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	uuid := api.waits(`call note_add {"name":"card"}`).UUID
	operator := h.dial()
	if err := operator.TerminateWorkflow(t.Context(), contract.ApprovalWorkflowID(uuid), "", "wrong cluster"); err != nil {
		t.Fatal(err)
	}
	var shown struct {
		Status   string
		Approval struct {
			ToolName string `json:"tool_name"`
		}
		Decision struct {
			Tool, By, Reason string
			RequestedAt      time.Time `json:"requested_at"`
			DecidedAt        time.Time `json:"decided_at"`
		}
	}
	raw := api.do("GET", "/approvals/"+uuid, "").Raw
	if err := json.Unmarshal([]byte(raw), &shown); err != nil {
		t.Fatal(err)
	}
	d := shown.Decision
	if shown.Status != "terminated" || shown.Approval.ToolName != "note_add" || d.Tool != "note_add" || d.By == "" ||
		d.Reason != "wrong cluster" || d.RequestedAt.IsZero() || d.DecidedAt.Before(d.RequestedAt) {
		t.Error(raw)
	}
}

func TestConversationsAreListedByTheirFirstWords(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	api.ask("hello")
	empty := api.want(201, "POST", "/conversations", `{}`).Conversation.ID
	api.say(empty, "good\nmorning")
	eventually(t, "both have titles", func() bool { return api.titles() == "good morning,hello," })
}

// titles returns the titles of all conversations, which must have an agent and a time of last
// change.
func (a *api) titles() (titles string) {
	a.t.Helper()
	var list struct {
		Conversations []struct {
			Title     string
			AgentName string    `json:"agent_name"`
			UpdatedAt time.Time `json:"updated_at"`
		}
	}
	if err := json.Unmarshal([]byte(a.do("GET", "/conversations", "").Raw), &list); err != nil {
		a.t.Fatal(err)
	}
	for _, c := range list.Conversations {
		titles += c.Title + ","
		if c.AgentName == "" || c.UpdatedAt.IsZero() {
			a.t.Errorf("%+v", c)
		}
	}
	return titles
}
