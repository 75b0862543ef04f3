package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// Who calls, as a proxy in front of the agent says.
const (
	alice = "X-Subject: alice"
	bob   = "X-Subject: bob"
	carol = "X-Subject: carol"
	ops   = "X-Groups: ops"
)

// TestApproversDecide records what proves identities in histories, too.
func TestApproversDecide(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups}]
approval: {approvers: ["group:ops", not_requester]}
`
	api, p := h.inside()
	asked := api.ask(`call note_add {"name":"x"}`, alice)
	id, uuid := asked.Conversation.ID, asked.Result.Approval.UUID
	workflow := contract.ApprovalWorkflowID(uuid)
	if !strings.Contains(api.do("GET", "/approvals/"+uuid, "", alice).Raw, `"approvers":["group:ops","not_requester"]`) {
		t.Error("the approval does not say who may decide")
	}
	before := restingTrace(t, p.Client, workflow)
	api.want(403, "POST", "/approvals/"+uuid, `{"approved":true}`, alice, ops) // the requester
	api.want(404, "POST", "/approvals/"+uuid, `{"approved":true}`, bob)
	if err := updateDecision(p.Client, uuid, map[string]any{"approved": true, "identity": map[string]any{"subject": "carol", "issuer": "proxy"}}); err == nil {
		t.Error("an update forged an identity")
	}
	if after := restingTrace(t, p.Client, workflow); after != before {
		t.Errorf("the history grew with what was refused: %+v, then %+v", before, after)
	}

	forged := contract.DecideSignal{Approved: true, By: "carol", Identity: contract.Identity{Subject: "carol", Issuer: "proxy"}, Proof: "v1.k1.AAAA"}
	if err := p.Client.SignalWorkflow(context.Background(), workflow, "", contract.SignalDecide, forged); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the approval refuses the signal", func() bool {
		return strings.Contains(api.do("GET", "/approvals/"+uuid, "", alice).Raw, wording.TextUnproven)
	})
	// Who may not read the conversation gets the record, and not the answer.
	decided := api.do("POST", "/approvals/"+uuid, `{"approved":true,"by":"alice"}`, carol, ops)
	if decided.Status != 202 || strings.Contains(decided.Raw, "added x") {
		t.Errorf("status %d: %s", decided.Status, decided.Raw)
	}
	const record = `"on_behalf_of":"alice","identity":{"subject":"carol","issuer":"proxy","groups":["ops"],"scopes":["approve"],"channel":"rest"}`
	eventually(t, "the record says who decided", func() bool {
		return strings.Contains(api.do("GET", "/conversations/"+id, "", alice).Raw, record)
	})
	keep(t, p.Client, "proven-approval", workflow)

	api.say(id, "hello", alice)
	pay := contract.MessageSignal{RequestID: contract.NameUUID(id, "forged"), Text: contract.Inline("hello"), Identity: forged.Identity}
	if err := p.Client.SignalWorkflow(context.Background(), contract.ConversationWorkflowID(id), "", contract.SignalMessage, pay); err != nil {
		t.Fatal(err)
	}
	api.want(200, "POST", "/conversations/"+id+"/close", "", alice)
	if n := strings.Count(api.do("GET", "/conversations/"+id, "", alice).Raw, `"content":"hello"`); n != 1 {
		t.Errorf("%d messages were taken", n)
	}
	keep(t, p.Client, "proven", contract.ConversationWorkflowID(id))
}

// An operator decides with Temporal's own tools, as somebody whom nothing proves.
func TestWhoTypesADecisionIsShownAsTemporalNamesIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "auth: [{type: proxy, from: [127.0.0.1], header: X-Subject}]\n"
	api, p := h.inside()
	desk, err := client.Dial(client.Options{HostPort: h.server, Identity: "ops@desk", Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer desk.Close()
	for name, decide := range map[string]func(uuid string) error{
		"signal": func(uuid string) error {
			return desk.SignalWorkflow(context.Background(), contract.ApprovalWorkflowID(uuid), "", contract.SignalDecide, "yes")
		},
		"update": func(uuid string) error { return updateDecision(desk, uuid, "yes") },
	} {
		asked := api.ask(fmt.Sprintf(`call note_add {"name":%q}`, name), alice)
		uuid := asked.Result.Approval.UUID
		if err := p.Client.SignalWorkflow(context.Background(), contract.ApprovalWorkflowID(uuid), "", contract.SignalDecide, "perhaps"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the other signal is refused", func() bool {
			return strings.Contains(api.do("GET", "/approvals/"+uuid, "", alice).Raw, "neither a yes nor a no")
		})
		if err := decide(uuid); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the call has run", func() bool {
			return strings.Contains(api.do("GET", "/conversations/"+asked.Conversation.ID+"?include=messages", "", alice).Raw, "The tool said: added "+name)
		})
		got := api.do("GET", "/approvals/"+uuid, "", alice).Raw
		if !strings.Contains(got, `"temporal_identity":"ops@desk"`) || !strings.Contains(got, `"via":"signal","`) || !strings.Contains(got, `"identity":{"channel":"signal"}`) {
			t.Errorf("%s: %s", name, got)
		}
		if strings.Contains(got, `"by":`) {
			t.Errorf("%s: a name that nothing proves is in the record: %s", name, got)
		}
	}
}

func TestAnOwnerOutlivesTheRunInWhichItWasProven(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "auth: [{type: proxy, from: [127.0.0.1], header: X-Subject}]\n"
	h.external(embedded.Options{LongHistory: 60})
	api, p := h.inside()
	id := api.ask("repeat 3 big", alice).Conversation.ID
	eventually(t, "a second run", func() bool {
		api.say(id, "hello", alice)
		return len(runsOf(t, p.Client, contract.ConversationWorkflowID(id))) > 1
	})
	if got := api.do("GET", "/conversations/"+id, "", alice); !strings.Contains(got.Raw, `"owner":{"subject":"alice"`) {
		t.Errorf("the owner is lost: %.300s", got.Raw)
	}
	api.say(id, "still the same?", alice)
	api.want(404, "GET", "/conversations/"+id, "", bob)
}
