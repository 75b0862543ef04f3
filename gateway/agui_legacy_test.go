package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// olderRun is the body of a run of a 0.0.59 client, which sends no version.
func olderRun(parts string) string {
	return fmt.Sprintf(`{"threadId":%q,"runId":"r1","state":{},"context":[],"forwardedProps":{},%s}`, someID, parts)
}

const picks = `,"tools":[{"name":"pick","description":"Ask","parameters":{"type":"object"}}]`

// picking is a conversation in which the client's tool is called.
func picking(t *testing.T, reason contract.Reason) (*script, *api) {
	s := newScript()
	s.onMessage = func(m contract.MessageSignal) {
		s.begin(m)
		s.ask(m, contract.PendingApproval{UUID: someUUID, ToolName: "pick", ToolArgs: addArgs, Reason: reason})
	}
	return s, newAPI(t, s.backend())
}

func lastOf(events []event) event { return events[len(events)-1] }

func TestAClientGetsTheVersionItNames(t *testing.T) {
	for member, want := range map[string]string{
		``: "", `"protocolVersion":null,`: "", `"protocolVersion":"0.0",`: "", `"protocolVersion":"0.9",`: "",
		`"protocolVersion":"1.0",`: "1.0", `"protocolVersion":"1.7",`: "1.0", `"protocolVersion":"next",`: "1.0",
	} {
		synctest.Test(t, func(t *testing.T) {
			_, a := picking(t, contract.ReasonClientTool)
			defer a.Close()
			events := a.runBody(olderRun(member + hi + picks))
			_, named := lastOf(events).data["outcome"].(map[string]any)["pendingToolCallIds"]
			if got := events[0].text("protocolVersion"); got != want || named != (want != "") || ended(events) != "success" {
				t.Errorf("%s: version %q, %v", member, got, lastOf(events).data)
			}
			if !strings.Contains(kinds(events), "TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END") {
				t.Errorf("%s: %s", member, kinds(events))
			}
		})
	}
}

func TestAnOlderClientSeesNoCallThatWaitsForAnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := picking(t, contract.ReasonDestructive)
		defer a.Close()
		events := a.runBody(olderRun(hi + picks))
		if ended(events) != "interrupt" || strings.Contains(kinds(events), "TOOL_CALL") {
			t.Errorf("%s", kinds(events))
		}
		interrupts, _ := lastOf(events).data["outcome"].(map[string]any)["interrupts"].([]any)
		if len(interrupts) != 1 || interrupts[0].(map[string]any)["id"] != someUUID {
			t.Fatalf("%v", interrupts)
		}
		s.onDecide = func(_ string, in contract.DecideSignal) {
			s.change(func(v *contract.ConversationView) {
				call := v.Transcript.Tail[1]
				v.Pending = []contract.PendingApproval{{UUID: otherID, Call: call.ID, ToolName: "pick", ToolArgs: addArgs, Reason: contract.ReasonClientTool, ConversationID: v.ID}}
				v.Status, v.Running = contract.StatusWaitingApproval, false
			})
			s.settled[in.RequestID] = contract.Request{ID: in.RequestID, Settled: true, Result: &contract.Result{WaitingApproval: true}}
		}
		next := a.runBody(olderRun(hi + picks + `,"resume":[` + resolved(someUUID, `{"approved":true}`) + `]`))
		if ended(next) != "success" || !strings.Contains(kinds(next), "TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END RUN_FINISHED") {
			t.Errorf("%s", kinds(next))
		}
	})
}

func TestARunThatWasCancelledHasNoOutcomeForAnOlderClient(t *testing.T) {
	for version, want := range map[string]string{"1.0": "cancelled", "0.0": ""} {
		synctest.Test(t, func(t *testing.T) {
			s := newScript()
			s.onMessage = func(m contract.MessageSignal) {
				s.begin(m)
				s.end(m.RequestID, wording.TurnCancelled("enough"), contract.OutcomeCancelled)
			}
			a := newAPI(t, s.backend())
			defer a.Close()
			events := a.runBody(olderRun(`"protocolVersion":"` + version + `",` + hi))
			if _, there := lastOf(events).data["outcome"]; ended(events) != want || there != (want != "") || lastOf(events).kind() != "RUN_FINISHED" {
				t.Errorf("%s: %v", version, lastOf(events).data)
			}
		})
	}
}

func TestARefusedRunIsTheSameForAnOlderClient(t *testing.T) {
	_, a := asking(t, destructive(someUUID))
	events := a.runBody(olderRun(knownMessages))
	if kinds(events) != "RUN_ERROR" || ended(events) != "interrupt_unresolved" {
		t.Errorf("%v", kinds(events))
	}
}

func TestAFrontEndKeepsItsState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := chat(t)
		defer a.Close()
		body := strings.Replace(olderRun(hi), `"state":{}`, `"state":{"draft":{"title":"x"},"agent-stop-and-go":{"status":"old"}}`, 1)
		var state map[string]any
		for _, e := range a.runBody(body) {
			if e.kind() == "STATE_SNAPSHOT" {
				state, _ = e.data["snapshot"].(map[string]any)
			}
		}
		own, _ := json.Marshal(state["draft"])
		agent, _ := state["agent-stop-and-go"].(map[string]any)
		if string(own) != `{"title":"x"}` || len(state) != 2 || agent["status"] != "active" || agent["pending_approvals"] == nil {
			t.Errorf("%v", state)
		}
	})
}

func TestAReaderNamesTheVersionThatItKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := picking(t, contract.ReasonClientTool)
		defer a.Close()
		s.do(func() { s.onMessage(contract.MessageSignal{Name: "m1", Text: contract.Inline("one")}) })
		for query, want := range map[string]string{"": "1.0", "?protocolVersion=1.0": "1.0", "?protocolVersion=0.0": ""} {
			got := a.open("GET", eventsPath+query, "")
			synctest.Wait()
			events := got.events()
			_, named := lastOf(events).data["outcome"].(map[string]any)["pendingToolCallIds"]
			if events[0].text("protocolVersion") != want || named != (want != "") {
				t.Errorf("%s: %v %v", query, events[0].data, lastOf(events).data)
			}
			got.leave()
		}
		for _, v := range []string{"2.0", "old", "1"} {
			a.wantError(400, "protocolVersion", a.do("GET", eventsPath+"?protocolVersion="+v, ""))
		}
	})
}

// Readers of 1.0 share a stream, an older one does not.
func TestReadersOfTwoVersionsShareNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("one")}) })
		readers := map[string]*stream{}
		for _, v := range []string{"1.0", "0.0"} {
			readers[v] = a.open("GET", eventsPath+"?protocolVersion="+v, "")
		}
		synctest.Wait()
		s.do(func() { s.answer(contract.MessageSignal{Name: "m2", Text: contract.Inline("two")}) })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for v, want := range map[string]string{"1.0": "1.0", "0.0": ""} {
			for _, e := range readers[v].events() {
				if e.kind() == "RUN_STARTED" && e.text("protocolVersion") != want {
					t.Errorf("%s: %v", v, e.data)
				}
			}
			if strings.Count(kinds(readers[v].events()), "RUN_STARTED") != 2 {
				t.Errorf("%s: %s", v, kinds(readers[v].events()))
			}
			readers[v].leave()
		}
	})
}
