package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
)

// asking returns a conversation with waiting approvals, and an API for it.
func asking(t *testing.T, approvals ...contract.PendingApproval) (*script, *api) {
	s, a := chat(t)
	m := contract.MessageSignal{RequestID: otherID, Name: "m1", Text: contract.Inline("hi")}
	s.do(func() {
		s.begin(m)
		for _, p := range approvals {
			s.ask(m, p)
		}
	})
	s.onDecide = func(_ string, in contract.DecideSignal) {
		s.finish(contract.MessageSignal{RequestID: in.RequestID, Name: "d"}, "went on")
	}
	return s, a
}

func destructive(uuid string) contract.PendingApproval {
	return contract.PendingApproval{UUID: uuid, ToolName: "add", ToolArgs: addArgs, Reason: contract.ReasonDestructive}
}

const knownMessages = `"messages":[{"id":"m1","role":"user","content":"hi"},{"id":"call-` + someUUID + `","role":"assistant","toolCalls":[{"id":"call-` + someUUID + `-0"}]}]`

func resumeOf(entries ...string) string {
	return knownMessages + `,"resume":[` + strings.Join(entries, ",") + `]`
}

func resolved(uuid, payload string) string {
	return fmt.Sprintf(`{"interruptId":%q,"status":"resolved","payload":%s}`, uuid, payload)
}

func TestAnInterruptIsResumed(t *testing.T) {
	for entry, want := range map[string]struct {
		approved bool
		reason   string
	}{
		resolved(someUUID, `{"approved":true,"reason":"fine"}`):                         {true, "fine"},
		resolved(someUUID, `{"approved":true,"args":{"value":42,"name":"disk"}}`):       {true, ""},
		resolved(someUUID, `{"approved":true,"editedArgs":{"value":42,"name":"disk"}}`): {true, ""},
		resolved(someUUID, `{"approved":false}`):                                        {false, ""},
		fmt.Sprintf(`{"interruptId":%q,"status":"cancelled"}`, someUUID):                {false, "cancelled by the client"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, destructive(someUUID))
			defer a.Close()
			events := a.run(resumeOf(entry), "X-User: ops", "Authorization: Bearer canary")
			in := s.decided[someUUID]
			if in.Approved != want.approved || in.Reason != want.reason || in.By != "ops" || in.Via != "ag-ui" || in.Credential == "" {
				t.Errorf("%s: decided %+v", entry, in)
			}
			if ended(events) != "success" || events[0].text("runId") != "r1" || strings.Join(texts(events), "|") != "went on" || strings.Contains(kinds(events), "TOOL_CALL_START") {
				t.Errorf("%s: %q in %s", entry, texts(events), kinds(events))
			}
			again := a.run(resumeOf(entry))
			if ended(again) != "success" || !strings.Contains(kinds(again), "MESSAGES_SNAPSHOT") {
				t.Errorf("%s again: %s", entry, kinds(again))
			}
			other := `{"approved":true}`
			if want.approved {
				other = `{"approved":false}`
			}
			if e := a.run(resumeOf(resolved(someUUID, other))); kinds(e) != "RUN_ERROR" || ended(e) != "interrupt_already_resolved" {
				t.Errorf("%s otherwise: %s", entry, kinds(e))
			}
		})
	}
}

// A run cannot bring a message past an interrupt, so its yes brings the token that a call waits for.
func TestAYesWithATokenIsTheLoginThatACallWaitsFor(t *testing.T) {
	for way, want := range map[login.Way]string{login.AtAgent: login.Via, login.AtServer: "ag-ui"} {
		synctest.Test(t, func(t *testing.T) {
			waits := destructive(someUUID)
			waits.Reason, waits.Login = contract.ReasonLogin, &login.Need{Server: "stock", Way: way}
			s, a := asking(t, waits)
			defer a.Close()
			a.run(resumeOf(resolved(someUUID, `{"approved":true}`)), "Authorization: Bearer canary")
			if in := s.decided[someUUID]; in.Via != want || in.Credential == "" {
				t.Errorf("%s: decided %+v", way, in)
			}
		})
	}
}

func TestARunIsCheckedBeforeAnythingIsDone(t *testing.T) {
	second := "5d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
	yes, no := resolved(someUUID, `{"approved":true}`), resolved(second, `{"approved":false}`)
	for _, c := range []struct{ input, code string }{
		{knownMessages, "interrupt_unresolved"},
		{resumeOf(), "interrupt_unresolved"},
		{resumeOf(yes), "interrupt_unresolved"},
		{`"messages":[{"id":"m7","role":"user","content":"hi"}]`, "interrupt_unresolved"},
		{resumeOf(yes, no, yes), "interrupt_duplicate"},
		{resumeOf(yes, no, resolved(otherID, `{"approved":true}`)), "interrupt_unknown"},
		{resumeOf(yes, no, resolved("nope", `{"approved":true}`)), "interrupt_unknown"},
		{resumeOf(yes, resolved(second, `{"approved":"yes"}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{"approved":false,"approved":true}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{"approved":false,"Approved":true}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `null`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `true`)), "resume_invalid"},
		{resumeOf(yes, fmt.Sprintf(`{"interruptId":%q,"status":"resolved"}`, second)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{"approved":true,"args":{"name":"disk","value":43}}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{"approved":true,"editedArgs":{"name":"other"}}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{"approved":true,"content":{"x":1}}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{"approved":true,"amount":5}`)), "resume_invalid"},
		{resumeOf(yes, resolved(second, `{"approved":true,"reason":"`+strings.Repeat("x", 3000)+`"}`)), "resume_invalid"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, destructive(someUUID), destructive(second))
			defer a.Close()
			if e := a.run(c.input); kinds(e) != "RUN_ERROR" || ended(e) != c.code || len(s.decided) != 0 || len(s.sent) != 0 {
				t.Errorf("%s: %s %s, decided %d", c.input, kinds(e), ended(e), len(s.decided))
			}
			if e := a.run(resumeOf(yes, no)); ended(e) != "success" || len(s.decided) != 2 {
				t.Errorf("%s: %v", ended(e), s.decided)
			}
		})
	}
}

func TestAnswersToOurQuestionsAndThoseOfOtherAgents(t *testing.T) {
	question := contract.PendingApproval{UUID: someUUID, ToolName: "quote", ToolArgs: addArgs, Reason: contract.ReasonQuestion, Schema: contract.JSON{Raw: []byte(seats)}}
	answersAre(t, question)
	for _, reason := range []contract.Reason{contract.ReasonQuestion, contract.ReasonClientTool} {
		question.Reason, question.Origin = contract.ReasonRemote, &contract.Origin{Reason: reason, Schema: question.Schema}
		answersAre(t, question)
	}
}

// answersAre checks which answers to a question about a number of seats are accepted.
func answersAre(t *testing.T, question contract.PendingApproval) {
	t.Helper()
	for payload, want := range map[string]string{
		`{"approved":true,"content":{"seats":4}}`: `{"seats":4}`, `{"content":{"seats":4}}`: `{"seats":4}`, `{"approved":false}`: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, question)
			defer a.Close()
			e := a.run(resumeOf(resolved(someUUID, payload)))
			if in := s.decided[someUUID]; string(in.Content.Raw) != want || in.Approved != (want != "") || ended(e) != "success" {
				t.Errorf("%s: %+v", payload, in)
			}
		})
	}
	_, a := asking(t, question)
	for _, payload := range []string{`{"approved":true}`, `{"approved":true,"content":{"seats":"many"}}`, `{"content":4}`} {
		if e := a.run(resumeOf(resolved(someUUID, payload))); payload != `{"content":4}` && ended(e) != "resume_invalid" {
			t.Errorf("%s: %s", payload, kinds(e))
		}
	}
}

func TestAnswersToAnUnknownOutcome(t *testing.T) {
	doubt := contract.PendingApproval{UUID: someUUID, ToolName: "add", ToolArgs: addArgs, Reason: contract.ReasonUnknownOutcome, Schema: contract.JSON{Raw: []byte(contract.UnknownOutcomeSchema)}}
	for payload, want := range map[string]string{
		`{"approved":true}`: `{}`, `{"approved":false}`: "",
		`{"approved":true,"content":{"outcome":"ran"}}`: `{"outcome":"ran"}`, `{"content":{"outcome":"ran"}}`: `{"outcome":"ran"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, doubt)
			defer a.Close()
			e := a.run(resumeOf(resolved(someUUID, payload)))
			if in := s.decided[someUUID]; string(in.Content.Raw) != want || in.Approved != (want != "") || ended(e) != "success" {
				t.Errorf("%s: %+v", payload, in)
			}
		})
	}
}

func TestAnAnswerAndAMessageInOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := asking(t, destructive(someUUID))
		defer a.Close()
		body := strings.TrimSuffix(knownMessages, "]") + `,{"id":"m2","role":"user","content":"more"}],"resume":[` + resolved(someUUID, `{"approved":true}`) + `]`
		e := a.run(body)
		if ended(e) != "success" || !slices.Equal(texts(e), []string{"went on", "answer to more"}) || len(s.sent) != 1 {
			t.Errorf("%q in %s", texts(e), kinds(e))
		}
	})
}

func TestAnotherDecisionIsFaster(t *testing.T) {
	for approved, code := range map[bool]string{true: "success", false: "interrupt_already_resolved"} {
		synctest.Test(t, func(t *testing.T) {
			s, a := asking(t, destructive(someUUID))
			defer a.Close()
			a.backend.DecideFn = func(uuid string, in contract.DecideSignal) error {
				_ = s.decide(uuid, contract.DecideSignal{Approved: approved, RequestID: "other"})
				return s.decide(uuid, in)
			}
			if e := a.run(resumeOf(resolved(someUUID, `{"approved":true}`))); ended(e) != code {
				t.Errorf("%s, expected %s", ended(e), code)
			}
		})
	}
}

func TestAnInterruptOfAnotherThread(t *testing.T) {
	s, a := asking(t)
	s.do(func() { s.settled = nil; s.decided[someUUID] = contract.DecideSignal{Approved: true} })
	a.backend.ApprovalFn = func(string) (contract.ApprovalView, error) {
		v, err := s.approval(someUUID)
		v.Pending.ConversationID = otherID
		return v, err
	}
	if e := a.run(resumeOf(resolved(someUUID, `{"approved":true}`))); ended(e) != "interrupt_unknown" {
		t.Error(kinds(e))
	}
}

func TestADecisionOfARunIsReportedDespiteAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := asking(t, destructive(someUUID))
		defer a.Close()
		a.backend.DecisionFn = func(context.Context, string) (contract.ApprovalResult, error) {
			return contract.ApprovalResult{}, errors.New("boom")
		}
		a.wantError(503, "a decision of the run was sent", a.do("POST", "/ag-ui", runOf(resumeOf(resolved(someUUID, `{"approved":true}`)))))
	})
}
