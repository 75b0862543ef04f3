package agui

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// encodedAll returns events in their encoding, one per line.
func encodedAll(events []Event) string {
	var lines []string
	for _, e := range events {
		lines = append(lines, e.ID+string(encoded(e.Data)))
	}
	return strings.Join(lines, "\n")
}

func TestEventsForOlderClients(t *testing.T) {
	interrupts := []Interrupt{{ID: "i", Reason: InterruptToolCall, ToolCallID: "c"}}
	finished := func(o Outcome) any { return RunFinished{TypeRunFinished, "t", "r", o} }
	for name, c := range map[string]struct {
		event any
		want  string
	}{
		"a run has no version":             {RunStarted{TypeRunStarted, "t", "r", ProtocolVersion}, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`},
		"a success":                        {finished(Outcome{Type: OutcomeSuccess}), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}`},
		"calls are not named":              {finished(Outcome{Type: OutcomeSuccess, PendingToolCallIDs: []string{"c"}, calls: []string{"c"}}), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}`},
		"an interrupt is the same":         {finished(Outcome{Type: OutcomeInterrupt, Interrupts: interrupts}), `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","toolCallId":"c"}]}}`},
		"of a cancelled run it is nothing": {finished(Outcome{Type: OutcomeCancelled}), `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`},
		"a failed run is the same":         {RunError{TypeRunError, "no", "internal"}, `{"type":"RUN_ERROR","message":"no","code":"internal"}`},
		"so is everything else":            {CallResult{TypeCallResult, "m", "c", "x", RoleTool, Metadata{"k": 1}}, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x","role":"tool","metadata":{"k":1}}`},
	} {
		if got := encodedAll(NewLegacy(nil).Rewrite([]Event{{ID: "1.a", Data: c.event}})); got != "1.a"+c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestCallsOfAnOlderClient(t *testing.T) {
	start, args, end := CallStart{TypeCallStart, "c", "pick", "m"}, CallArgs{TypeCallArgs, "c", "{}"}, CallEnd{TypeCallEnd, "c"}
	other := CallStart{TypeCallStart, "d", "add", "m"}
	result := CallResult{TypeCallResult, "r", "c", "x", RoleTool, nil}
	void := CallResult{TypeCallResult, voidID("c"), "c", "x", RoleTool, nil}
	success := RunFinished{TypeRunFinished, "t", "r", Outcome{Type: OutcomeSuccess, PendingToolCallIDs: []string{"c"}, calls: []string{"c"}}}
	asked := Outcome{Type: OutcomeInterrupt, Interrupts: []Interrupt{{ID: "i", Reason: InterruptToolCall, ToolCallID: "c"}}}
	approval := RunFinished{TypeRunFinished, "t", "r", asked}
	asked.calls = []string{"c"}
	both := RunFinished{TypeRunFinished, "t", "r", asked}
	text := "hi"
	all := MessagesSnapshot{TypeMessagesSnapshot, []Message{
		{ID: "u", Role: RoleUser, Content: &text},
		{ID: "m", Role: RoleAssistant, ToolCalls: []ToolCall{{"c", "function", Function{"pick", "{}"}}}},
	}}
	for name, c := range map[string]struct {
		events []any
		want   string
	}{
		"one that is to be made comes at the end of the run":  {[]any{start, args, args, other, end, success}, "call+ d of m, call+ c of m, {}{}, call- c, run- success"},
		"one that waits for an approval is not seen":          {[]any{start, args, end, approval}, "run- interrupt, about agent-stop-and-go:approval "},
		"one that is to be made beside an approval is seen":   {[]any{start, args, end, both}, "call+ c of m, {}, call- c, run- interrupt, about tool_call c"},
		"one that has a result is seen":                       {[]any{start, args, end, result}, "call+ c of m, {}, call- c, result r of c"},
		"one that has not ended goes on":                      {[]any{start, args, result, args, end}, "call+ c of m, {}, result r of c, {}, call- c"},
		"one that is taken back is not":                       {[]any{start, args, end, void, start}, ""},
		"a snapshot has none that waits":                      {[]any{all, approval}, "all u, run- interrupt, about agent-stop-and-go:approval "},
		"one of a snapshot that is to be made":                {[]any{all, success}, "all u, call+ c of m, {}, call- c, run- success"},
		"a snapshot has what was seen":                        {[]any{start, args, end, success, all}, "call+ c of m, {}, call- c, run- success, all u m"},
		"a snapshot takes the place of calls shown before it": {[]any{start, args, end, all, success}, "all u, call+ c of m, {}, call- c, run- success"},
	} {
		l := NewLegacy(func(_, tool string) bool { return tool == "pick" })
		var got []string
		for _, data := range c.events {
			for _, e := range l.Rewrite([]Event{{ID: "1.a", Data: data}}) {
				if e.ID != "" {
					t.Errorf("%s: a position", name)
				}
				got = append(got, short([]Event{e}))
				if d, ok := e.Data.(RunFinished); ok {
					for _, i := range d.Outcome.Interrupts {
						got = append(got, "about "+i.Reason+" "+i.ToolCallID)
					}
				}
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s", name, s)
		}
	}
	if text := encodedAll([]Event{{Data: all}}); !strings.Contains(text, `"toolCalls"`) {
		t.Errorf("the snapshot of others was changed: %s", text)
	}
}

func TestTheStateOfAFrontEndComesBack(t *testing.T) {
	u := say(contract.RoleUser, "u", "hi")
	for own, want := range map[string]string{
		``:     `{"agent-stop-and-go":OURS}`,
		`null`: `{"agent-stop-and-go":OURS}`,
		`{}`:   `{"agent-stop-and-go":OURS}`,
		`{"n":1.50,"status":"mine","zero":null,"agent-stop-and-go":{"status":"old"}}`: `{"agent-stop-and-go":OURS,"n":1.50,"status":"mine","zero":null}`,
		`[1]`: ``, `"x"`: ``, `7`: ``,
	} {
		s := New(Options{ThreadID: "t", State: json.RawMessage(own)})
		got := ""
		for _, e := range append(s.Update(working(u)), s.Update(idle(u, say(contract.RoleAssistant, "m", "yes")))...) {
			switch d := e.Data.(type) {
			case StateSnapshot:
				got = string(encoded(d.Snapshot))
			case StateDelta:
				if want == "" {
					t.Errorf("%s: %s", own, encoded(d))
				}
			}
		}
		ours := string(encoded(sharedOf(working(u))))
		if got != strings.Replace(want, "OURS", ours, 1) {
			t.Errorf("%s: the client has %s", own, got)
		}
	}
}

// Some front ends store the answer to an approval as the result of the call.
func TestAnApprovalIsNoResult(t *testing.T) {
	u := say(contract.RoleUser, "u", "hi")
	for said, want := range map[string]string{
		`{"approved":true}`: "run+ run-u, all u c r, text+ m, 'done', end m, run- success",
		"added":             "run+ run-u, text+ m, 'done', end m, run- success",
	} {
		s := New(Options{
			ThreadID: "t", Known: func(id string) bool { return id == "u" || id == "c" },
			ClientResult: func(call string) (string, bool) { return said, call == "c" },
		})
		if got := short(s.Update(idle(u, call("c", "", "", "add", "{}"), result("r", "", "add", "added"), say(contract.RoleAssistant, "m", "done")))); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}
