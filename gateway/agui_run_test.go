package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// runOf returns the body of a run.
func runOf(parts string) string {
	if parts != "" {
		parts = "," + parts
	}
	if !strings.Contains(parts, `"messages"`) {
		parts += `,"messages":[]`
	}
	return fmt.Sprintf(`{"threadId":%q,"runId":"r1","protocolVersion":"1.0","state":{},"tools":[],"context":[],"forwardedProps":{}%s}`, someID, parts)
}

func (a *api) run(parts string, headers ...string) []event {
	a.t.Helper()
	return a.runBody(runOf(parts), headers...)
}

func (a *api) runBody(body string, headers ...string) []event {
	a.t.Helper()
	r := a.want(200, a.do("POST", "/ag-ui", body, append(headers, asEvents)...))
	return parse(a.t, r.raw)
}

// ended returns the type of the outcome, or the code of the error.
func ended(events []event) string {
	if len(events) == 0 {
		return "nothing"
	}
	last := events[len(events)-1]
	if last.kind() == "RUN_ERROR" {
		return last.text("code")
	}
	outcome, _ := last.data["outcome"].(map[string]any)
	s, _ := outcome["type"].(string)
	return s
}

const hi = `"messages":[{"id":"m1","role":"user","content":"hi"}]`

// chat returns a script that answers every message, and an API for it.
func chat(t *testing.T) (*script, *api) {
	s := newScript()
	s.onMessage = s.answer
	a := newAPI(t, s.backend())
	return s, a
}

func TestARunOfANewThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		s.exists = false
		events := a.run(hi, "X-Session-ID: s-9", "Authorization: Bearer canary")
		if k := kinds(events); !strings.HasPrefix(k, "RUN_STARTED STATE_SNAPSHOT TEXT_MESSAGE_START") || ended(events) != "success" {
			t.Error(k)
		}
		if events[0].text("runId") != "r1" || events[0].text("threadId") != someID || strings.Join(texts(events), "|") != "answer to hi" {
			t.Errorf("%v %q", events[0].data, texts(events))
		}
		m := s.sent[0]
		if m.Name != "m1" || m.Text.Inline != "hi" || m.Credential == "" || strings.Contains(m.Credential, "canary") || !contract.IsUUID(m.RequestID) {
			t.Errorf("sent %+v", m)
		}
	})
}

func TestAThreadWithAnyName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		s.exists = false
		events := a.runBody(`{"threadId":"my thread","runId":"r","messages":[{"id":"m1","role":"user","content":"hi"}]}`)
		if s.view.ID != contract.NameUUID("ag-ui", "my thread") || events[0].text("threadId") != "my thread" || ended(events) != "success" {
			t.Errorf("%s %v", s.view.ID, events[0].data)
		}
	})
}

func TestARepeatedRunIsCarriedOutOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		a.run(hi)
		again := a.run(hi)
		if len(s.sent) != 1 || !strings.Contains(kinds(again), "MESSAGES_SNAPSHOT") || ended(again) != "success" || strings.Join(texts(again), "|") != "hi|answer to hi" {
			t.Errorf("sent %d, %s", len(s.sent), kinds(again))
		}
		next := a.run(`"messages":[{"id":"m1","role":"user","content":"hi"},{"id":"draft-m1","role":"assistant","content":"answer to hi"},{"id":"m2","role":"user","content":"more"}]`)
		if len(s.sent) != 2 || strings.Join(texts(next), "|") != "answer to more" || strings.Contains(kinds(next), "SNAPSHOT TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END TEXT") {
			t.Errorf("sent %d, %q in %s", len(s.sent), texts(next), kinds(next))
		}
	})
}

func TestSeveralNewMessagesAreAllSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		events := a.run(`"messages":[{"id":"m0","role":"user","content":"old"},{"id":"a","role":"assistant","content":"x"},{"id":"m1","role":"user","content":"one"},{"id":"m2","role":"user","content":"two"}]`)
		if strings.Join(kindsOf(s.sent), "|") != "one|two" || ended(events) != "success" || strings.Count(kinds(events), "RUN_STARTED") != 1 {
			t.Errorf("%q, %s", kindsOf(s.sent), kinds(events))
		}
	})
}

func TestPartsAndContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		events := a.run(`"messages":[{"id":"m1","role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"x"}},{"type":"text","text":"b"}]}],"context":[{"description":"page","value":"/home"},{"description":"","value":""}]`)
		if m := s.sent[0]; m.Text.Inline != "[context] page: /home\n\na\nb" || m.Text.Inline[m.Preface:] != "a\nb" {
			t.Errorf("%q", s.sent[0].Text.Inline)
		}
		if k := kinds(events); !strings.HasPrefix(k, "RUN_STARTED CUSTOM") || events[1].text("name") != "agent-stop-and-go.skipped" {
			t.Error(k)
		}
		only := a.run(`"messages":[{"id":"m9","role":"user","content":[{"type":"image"}]}]`)
		if len(s.sent) != 1 || ended(only) != "success" || only[1].text("name") != "agent-stop-and-go.skipped" {
			t.Errorf("%d %s", len(s.sent), kinds(only))
		}
	})
}

func TestPartsThatAreLeftOutOfANewThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		s.exists = false
		events := a.run(`"messages":[{"id":"m1","role":"user","content":[{"type":"image"}]}]`)
		if s.exists || ended(events) != "success" || events[1].text("name") != "agent-stop-and-go.skipped" {
			t.Error(kinds(events))
		}
	})
}

func TestARunWithNothingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := chat(t)
		defer a.Close()
		s.exists = false
		if events := a.run(""); kinds(events) != "RUN_STARTED STATE_SNAPSHOT RUN_FINISHED" || s.exists {
			t.Error(kinds(events))
		}
	})
}

func TestAMessageBehindAnApprovalIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.onMessage = func(m contract.MessageSignal) {
			s.begin(m)
			s.ask(m, contract.PendingApproval{UUID: someUUID, ToolName: "add", ToolArgs: addArgs, Reason: contract.ReasonDestructive})
		}
		a := newAPI(t, s.backend())
		defer a.Close()
		e := a.run(`"messages":[{"id":"m1","role":"user","content":"one"},{"id":"m2","role":"user","content":"two"}]`)
		if ended(e) != "interrupt" || !strings.Contains(kinds(e), "CUSTOM") {
			t.Errorf("%s: %s", ended(e), kinds(e))
		}
	})
}

func TestARunIsStreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		got := a.open("POST", "/ag-ui", runOf(hi))
		synctest.Wait()
		f.publish(contract.Event{Draft: &generation.Draft{ID: "draft-m1"}})
		f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-m1", Kind: generation.Text, Text: "answer"}})
		s.do(func() { s.begin(s.sent[0]) })
		time.Sleep(time.Second)
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "answer" {
			t.Errorf("%q in %s", now, kinds(got.events()))
		}
		again := a.open("POST", "/ag-ui", runOf(hi)) // its stream was lost
		synctest.Wait()
		s.do(func() { s.finish(s.sent[0], "answer to hi") })
		if now := texts(got.whole()); strings.Join(now, "|") != "answer to hi" || ended(got.events()) != "success" {
			t.Errorf("%q in %s", now, kinds(got.events()))
		}
		if now := texts(again.whole()); strings.Join(now, "|") != "hi|answer to hi" || len(s.sent) != 1 {
			t.Errorf("%q in %s", now, kinds(again.events()))
		}
		gone := a.open("POST", "/ag-ui", runOf(`"messages":[{"id":"m2","role":"user","content":"x"}]`))
		synctest.Wait()
		gone.leave()
		<-gone.done
		if len(s.sent) != 2 {
			t.Error("the message went with the client")
		}
	})
}

func TestInvalidRuns(t *testing.T) {
	_, a := chat(t)
	long := strings.Repeat("x", 70<<10)
	many := strings.TrimSuffix(strings.Repeat(`{"id":"m%","role":"user","content":"x"},`, 33), ",")
	for n := range 33 {
		many = strings.Replace(many, "%", fmt.Sprint(n), 1)
	}
	for body, want := range map[string]int{
		runOf(`"messages":[` + many + `]`): 422,
		"":                                 400, "{": 400, `{} {}`: 400, `[]`: 422, `{}`: 422, `{"threadId":"t","runId":"r"}`: 422, `{"threadId":7,"runId":"r","messages":[]}`: 422,
		`{"threadId":"t","messages":[]}`: 422, `{"runId":"r","messages":[]}`: 422,
		runOf(`"messages":[{"role":"user","content":"x"}]`):                                                            422,
		runOf(`"messages":[{"id":"m","content":"x"}]`):                                                                 422,
		runOf(`"messages":[{"id":"m","role":"user","content":5}]`):                                                     422,
		runOf(`"messages":[{"id":"m","role":"tool","content":"x"}]`):                                                   422,
		runOf(`"resume":[{"interruptId":"x","status":"maybe"}]`):                                                       422,
		runOf(hi + `,"tools":[{"name":"a","metadata":{"destructive":"yes"}}]`):                                         422,
		runOf(hi + `,"tools":[{"name":"a","metadata":{"destructive":true,"Destructive":false}}]`):                      422,
		runOf(`"resume":[{"status":"resolved"}]`):                                                                      422,
		`{"threadId":"t","runId":"r","messages":[],"protocolVersion":"2.0"}`:                                           422,
		`{"threadId":"t","runId":"r","messages":[],"tools":[{"name":""}]}`:                                             422,
		`{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"a"},{"name":"a"}]}`:                               422,
		`{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"a","parameters":5}]}`:                             422,
		`{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"a","parameters":{"x":"` + long + `"}}]}`:          422,
		`{"threadId":"t","runId":"r","messages":[],"tools":[` + strings.Repeat(`{"name":"a"},`, 65) + `{"name":"a"}]}`: 422,
	} {
		r := a.do("POST", "/ag-ui", body, "Content-Type: application/json")
		if a.want(want, r); r.text("error") == "" {
			t.Errorf("%s: %s", body, r.raw)
		}
	}
	a.wantError(415, "application/json", a.do("POST", "/ag-ui", "{}", "Content-Type: text/plain"))
	a.wantError(413, "too large", a.do("POST", "/ag-ui", `{"x":"`+strings.Repeat("x", 9<<20)+`"}`))
	a.want(200, a.do("POST", "/ag-ui", `{"threadId":"`+someID+`","runId":"r","messages":[],"protocolVersion":"1.7","new":[1]}`))
}

func TestAConversationThatEndedTakesNoMessage(t *testing.T) {
	s, a := chat(t)
	s.write(func(v *contract.ConversationView) { v.Status = contract.StatusCompleted })
	if e := a.run(hi); kinds(e) != "RUN_ERROR" || ended(e) != "completed" {
		t.Error(kinds(e))
	}
	if e := a.run(""); ended(e) != "success" {
		t.Error(kinds(e))
	}
	s.do(func() { s.readErr = service.Errorf(service.KindUnavailable, "no worker") })
	a.wantError(503, "no worker", a.do("POST", "/ag-ui", runOf(hi)))
}

func TestToolsOfTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.onMessage = func(m contract.MessageSignal) {
			s.begin(m)
			s.ask(m, contract.PendingApproval{UUID: someUUID, ToolName: "pick", ToolArgs: addArgs, Reason: contract.ReasonClientTool})
		}
		s.onDecide = func(_ string, in contract.DecideSignal) {
			s.change(func(v *contract.ConversationView) {
				call := v.Transcript.Tail[1]
				v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{
					ID: s.id(), Role: contract.RoleTool, Reply: call.Reply, CreatedAt: epoch,
					ToolCall: &contract.ToolCall{ID: "c", Name: "pick", Result: contract.Inline("blue")},
				})
			})
			s.finish(contract.MessageSignal{RequestID: in.RequestID, Name: "m2"}, "picked")
		}
		a := newAPI(t, s.backend())
		defer a.Close()
		events := a.run(hi + `,"tools":[{"name":"pick","description":"Ask","metadata":{"destructive":true}},{"name":"b","parameters":{"type":"object"}}]`)
		want := `[{"name":"pick","description":"Ask","inputSchema":{"type":"object","properties":{}},"destructiveHint":true},{"name":"b","description":"","inputSchema":{"type":"object"}}]`
		if got := s.sent[0].Tools.Raw; string(got) != want {
			t.Errorf("tools %s", got)
		}
		outcome, _ := events[len(events)-1].data["outcome"].(map[string]any)
		calls, _ := outcome["pendingToolCallIds"].([]any)
		if ended(events) != "success" || len(calls) != 1 {
			t.Fatalf("%v", outcome)
		}
		history := fmt.Sprintf(`{"id":"m1","role":"user","content":"hi"},{"id":"call-%s","role":"assistant","toolCalls":[{"id":%q,"type":"function","function":{"name":"pick","arguments":"{}"}}]}`, someUUID, calls[0])
		if e := a.run(`"messages":[` + history + `]`); ended(e) != "interrupt_unresolved" {
			t.Error(kinds(e))
		}
		done := a.run(`"messages":[` + history + fmt.Sprintf(`,{"id":"t1","role":"tool","toolCallId":%q,"content":"blue"}]`, calls[0]))
		if got := string(s.decided[someUUID].Content.Raw); got != `{"content":"blue","is_error":false}` || !s.decided[someUUID].Approved {
			t.Errorf("decided %s", got)
		}
		if ended(done) != "success" || strings.Join(texts(done), "|") != "picked" {
			t.Errorf("%q in %s", texts(done), kinds(done))
		}
		if strings.Contains(kinds(done), "TOOL_CALL_RESULT") { // the client has it in a message of its own
			t.Errorf("the client's result is sent again: %s", kinds(done))
		}
	})
}
