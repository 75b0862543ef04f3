package activities_test

import (
	"context"
	"testing"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// Every call that a conversation brings along waits for an approval, even of a tool that the model
// may call without one, and the model is not asked.
func TestTransferredCallsAreLookedUpHereAndAllAsk(t *testing.T) {
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{tools: []toolbox.Tool{tool("list", false), tool("add", true)}},
		Model: fakeModel{func(context.Context, llm.Request) (llm.Reply, error) {
			t.Error("the model was called")
			return llm.Reply{}, nil
		}}}
	in := question("hi")
	in.DraftID = "d"
	in.Peers = []contract.Peer{{Name: "other"}}
	in.Transferred = raw(`{"text":"I will.","calls":[{"name":"list","arguments":{"b":1,"a":2},"approval":"u"},{"name":"gone","arguments":{}},{"name":"a2a_other","arguments":{"message":"go"},"task":"t1"},{"name":"add","arguments":{},"task":"t2"}]}`)
	got, err := run(t, t.Context(), m.Generate, in)
	if err != nil || len(got.Calls) != 4 || got.DraftID != "d" || got.Text.Inline != "I will." {
		t.Fatalf("%+v, %v", got, err)
	}
	listed, gone, delegated, added := got.Calls[0], got.Calls[1], got.Calls[2], got.Calls[3]
	if !listed.Destructive || listed.Approval != "u" || listed.SHA256 != digest(t, `{"a":2,"b":1}`) || listed.Server == "" {
		t.Errorf("%+v", listed)
	}
	if !gone.Unknown {
		t.Errorf("%+v", gone)
	}
	if delegated.Task != "t1" || delegated.Destructive || delegated.Peer == nil {
		t.Errorf("%+v", delegated)
	}
	if added.Task != "" || !added.Destructive {
		t.Errorf("a call of a tool was taken for one that was sent: %+v", added)
	}
}
