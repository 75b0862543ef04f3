package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
)

// gate is a server that wants a login.
type gate struct {
	open bool
	way  login.Way
}

func (g *gate) need() *login.Need {
	return &login.Need{Server: "resources", Way: g.way, URL: "https://agent.example.com", Why: "nobody has logged in to it yet"}
}

// put makes the calls of a world wait for the gate.
func (g *gate) put(w *world) {
	w.CallToolFn = func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
		if !g.open {
			return contract.CallToolResult{Text: contract.Inline("Log in."), IsError: true, AuthRequired: "resources", Login: g.need()}, nil
		}
		return returns(in.Tool + " done"), nil
	}
	delegate := w.DelegateFn
	w.DelegateFn = func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if !g.open && !in.Cancel {
			return contract.DelegateResult{State: contract.TaskAuthRequired, TaskID: in.TaskID, Login: g.need()}, nil
		}
		return delegate(ctx, in)
	}
}

// loggedIn is the decision of the gateway after a login.
func loggedIn(request string) contract.DecideSignal {
	return contract.DecideSignal{Approved: true, Via: login.Via, RequestID: request}
}

func TestACallThatNeedsALoginWaitsForIt(t *testing.T) {
	w, g := &world{GenerateFn: script(asks(add("x")), says("Added."))}, &gate{way: login.AtServer}
	g.put(w)
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonLogin)
		same(t, "address", p.Login.URL, "https://agent.example.com/approvals/"+p.UUID+"/login")
		for _, want := range []string{"**LOGIN NEEDED: resources_add**", "Name: x", "nobody has logged in to it yet", p.Login.URL} {
			if !strings.Contains(p.Description, want) {
				t.Errorf("%q is not in\n%s", want, p.Description)
			}
		}
		answered := s.request("d1")
		same(t, "login required", answered.Result.AuthRequired && answered.Result.WaitingApproval, true)
		same(t, "task", s.view().TaskState(), contract.TaskAuthRequired)
		s.approve() // is no login
		s.rest()
		same(t, "waits", s.pending().UUID, p.UUID)
		if v := s.approval(p.UUID); !strings.Contains(v.Problem, "needs a login") {
			t.Errorf("problem %q", v.Problem)
		}
		g.open = true
		s.decide(loggedIn("d2"))
		s.rest()
		same(t, "answer", s.answer("d2"), "Added.")
		s.nothingWaits()
	})
	calls := read(w, &w.calls)
	same(t, "attempts", len(calls), 2)
	same(t, "key", calls[0].IdempotencyKey, calls[1].IdempotencyKey)
	if lines := strings.Join(s.lines(), "\n"); !strings.Contains(lines, "[LOGIN]: Done") {
		t.Errorf("the login is not in\n%s", lines)
	}
}

func TestAMessageThatIsSentAgainJoinsTheTurnThatWaitsForALogin(t *testing.T) {
	w, g := &world{GenerateFn: script(asks(list("a")), says("Listed."))}, &gate{way: login.AtServer}
	g.put(w)
	converse(t, w, askedBy(askersToken), func(s *session) {
		s.rest()
		uuid := s.pending().UUID
		no := s.predictedRefusal(contract.ConversationQuery{RequestID: "r2", Signal: contract.SignalMessage, Text: contract.Inline("hello")})
		same(t, "refused", no.Refused, contract.Kind(""))
		same(t, "answer", no.Result.AuthRequired && no.Result.Approval.UUID == uuid, true)
		s.say("r2", "hello") // past the gateway
		s.rest()
		same(t, "settled", s.request("r2").Result.AuthRequired, true)
		s.say("r3", "something else")
		s.rest()
		same(t, "another message", s.request("r3").Refused, contract.KindWaiting)
		g.open = true
		s.decide(loggedIn("d1"))
		s.rest()
		same(t, "answer", s.answer("d1"), "Listed.")
	})
	same(t, "turns", len(read(w, &w.prompts)), 2)
}

func TestANewTokenLetsTheTurnGoOn(t *testing.T) {
	w, g := &world{GenerateFn: script(asks(list("a")), says("Listed."))}, &gate{way: login.AtAgent}
	g.put(w)
	converse(t, w, askedBy(askersToken), func(s *session) {
		s.rest()
		first := s.pending().UUID
		s.message(contract.MessageSignal{RequestID: "r2", Text: contract.Inline("hello"), Credential: approversToken}) // is no longer valid either
		s.rest()
		same(t, "asks again", s.pending().UUID != first, true)
		same(t, "settled", s.request("r2").Result.AuthRequired, true)
		s.message(contract.MessageSignal{RequestID: "r3", Text: contract.Inline("hello")})
		s.rest()
		same(t, "without a token", s.request("r3").Result.AuthRequired, true)
		g.open = true
		s.message(contract.MessageSignal{RequestID: "r4", Text: contract.Inline("hello"), Credential: approversToken})
		s.rest()
		same(t, "answer", s.answer("r4"), "Listed.")
		s.nothingWaits()
	})
	var tokens []string
	for _, line := range read(w, &w.log) {
		if strings.Contains(line, "resources_list") {
			tokens = append(tokens, line[strings.LastIndex(line, " ")+1:])
		}
	}
	same(t, "tokens", tokens, []string{askersToken, approversToken, approversToken})
}

func TestALoginIsRejectedCancelledOrExpires(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(*session)
		last string // line of the transcript
	}{
		"rejected": {func(s *session) { s.decide(contract.DecideSignal{RequestID: "d", Reason: "not now"}) }, "Without it."},
		"expires":  {func(s *session) { s.sleep(2 * time.Hour) }, "Without it."},
		"cancel":   {func(s *session) { s.cancel("c", "") }, "cancelled"},
		"close":    {func(s *session) { s.close("c", "") }, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			w, g := &world{GenerateFn: script(asks(list("a")), says("Without it."))}, &gate{way: login.AtServer}
			g.put(w)
			in := with(hello(), func(a *contract.Agent) { a.ApprovalTimeout = time.Hour })
			s := converse(t, w, in, func(s *session) {
				s.rest()
				tt.end(s)
				s.rest()
				if name != "close" {
					s.nothingWaits()
				}
			})
			all := s.lines()
			if last := all[len(all)-1]; !strings.Contains(last, tt.last) {
				t.Errorf("ended with %q", last)
			}
			same(t, "attempts", len(w.ran()), 1)
		})
	}
}

func TestADelegationThatNeedsALoginWaitsForIt(t *testing.T) {
	w, g := &world{DelegateFn: answers(remote(contract.TaskCompleted, "deleted"))}, &gate{way: login.AtServer}
	g.put(w)
	converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonLogin)
		g.open = true
		s.decide(loggedIn("d1"))
		s.rest()
		same(t, "answer", s.answer("d1"), "deleted")
	})
	same(t, "messages", len(sentMessages(w)), 2)
}

func TestATaskWhoseAgentWaitsForALoginGoesOnByItself(t *testing.T) {
	waits := remote(contract.TaskAuthRequired, "Log in at https://writer.example.com.")
	waits.Asked = &contract.Origin{Chain: []string{"writer"}, UUID: "login-1", Tool: "files_delete", Reason: contract.ReasonLogin}
	peer := &writer{started: waits, now: waits}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "login required", s.request("r1").Result.AuthRequired && p.Origin.Reason == contract.ReasonLogin, true)
		s.approve() // is no login
		s.rest()
		same(t, "waits", s.pending().UUID, p.UUID)
		peer.now = remote(contract.TaskCompleted, "deleted")
		s.sleep(time.Minute)
		s.nothingWaits()
	})
	for _, m := range sentMessages(w) {
		if m.Cancel || m.Decision != "" {
			t.Errorf("the task was told %+v", m)
		}
	}
}
