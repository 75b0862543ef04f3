package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// unwritten is an audit log that cannot be written.
type unwritten struct{}

func (unwritten) Begin(context.Context, auditing.Call) (auditing.End, error) {
	return nil, errors.New("disk full")
}

func TestACallThatCannotBeRecordedIsNotMade(t *testing.T) {
	a := tools(t, func(context.Context, toolbox.Call) (toolbox.Result, error) {
		t.Error("it was sent")
		return toolbox.Result{}, nil
	})
	a.Audit = unwritten{}
	_, err := run(t, t.Context(), a.CallTool, calling(t, `{"name":"x"}`, true))
	var h audit.Hold
	if app := failedAs(t, err, contract.KindPaused, false); app.Details(&h) != nil || !h.Unrecorded {
		t.Errorf("the details do not say that it waits for the log: %v", err)
	}
}

// An approval of a peer's task lets that act, so it is recorded whatever the call itself is.
func TestCallsOfPeersAreAudited(t *testing.T) {
	in := question("hi")
	in.Peers = []contract.Peer{quiet}
	reply := llm.Reply{Calls: []llm.Call{{ID: "1", Name: "a2a_search", Arguments: json.RawMessage(`{"message":"find it"}`)}}}
	for _, on := range []bool{true, false} {
		m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: replies(reply, nil), Audited: on}
		got, err := run(t, t.Context(), m.Generate, in)
		if err != nil || len(got.Calls) != 1 || got.Calls[0].Audited != on {
			t.Errorf("audited %t: %+v, %v", on, got.Calls, err)
		}
	}
}
