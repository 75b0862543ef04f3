package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

const seatsSchema = `{"type":"object","properties":{"seats":{"type":"integer"}},"required":["seats"]}`

// The UUIDs of questions, which the activity generates.
const (
	firstUUID  = "aaaaaaaa-0000-5000-8000-000000000001"
	secondUUID = "aaaaaaaa-0000-5000-8000-000000000002"
)

// quote returns a read-only call whose server may ask, book a destructive one.
func quote() contract.Call { return mayAsk(callOf("quote", "q", `{}`, false)) }
func book() contract.Call  { return mayAsk(callOf("book", "b", `{}`, true)) }

func mayAsk(c contract.Call) contract.Call {
	c.MayAsk = true
	return c
}

// question returns a question of the latest call.
func (s *session) question(uuid string) contract.QuestionSignal {
	s.t.Helper()
	calls := read(s.world, &s.world.calls)
	if len(calls) == 0 {
		s.t.Fatal("no call was made")
	}
	return contract.QuestionSignal{
		UUID: uuid, Call: calls[len(calls)-1].IdempotencyKey, Attempt: 1,
		Message: contract.Inline("How many seats?"), Schema: contract.JSON{Raw: json.RawMessage(seatsSchema)},
	}
}

func (s *session) ask(q contract.QuestionSignal) {
	s.env.SignalWorkflow(contract.SignalQuestion, q)
	s.rest()
}

// outcome returns the result of an approval.
func (s *session) outcome(uuid string) contract.ApprovalResult {
	s.t.Helper()
	for _, m := range s.messages() {
		if m.Approval != nil && m.Approval.UUID == uuid {
			return *m.Approval
		}
	}
	s.t.Fatalf("nothing has become of %s", uuid)
	return contract.ApprovalResult{}
}

// converseWithQuestion runs a conversation with a running call and its first question.
func converseWithQuestion(t *testing.T, c contract.Call, body func(s *session)) *session {
	t.Helper()
	w := &world{GenerateFn: script(asks(c), says("Done.")), CallToolFn: holdTools}
	return converse(t, w, hello(), func(s *session) {
		s.rest()
		if c.Destructive {
			s.approve()
			s.rest()
		}
		s.ask(s.question(firstUUID))
		body(s)
	})
}

// end ends the call of the conversation.
func (s *session) end(c contract.Call) {
	s.t.Helper()
	s.release(c.Name+"{}", returns("made"), nil)
	s.rest()
}

func TestAQuestionPausesTheConversationAndAMessageAnswersIt(t *testing.T) {
	s := converseWithQuestion(t, quote(), func(s *session) {
		p, v := s.pending(), s.view()
		same(t, "status", v.Status, contract.StatusWaitingApproval)
		same(t, "pending", p, contract.PendingApproval{
			UUID: firstUUID, ConversationID: conversationID, ToolName: "quote", ToolArgs: quote().Arguments, Digest: quote().SHA256,
			Description: "The tool server resources asks while it carries out quote:\n\nHow many seats?",
			Reason:      contract.ReasonQuestion, CreatedAt: p.CreatedAt, Schema: contract.JSON{Raw: json.RawMessage(seatsSchema)},
			AgentName: "tester", Server: "resources", ExpiresAt: p.ExpiresAt,
		})
		text := p.Description + "\n\nAnswer with a message or by the approval UUID: accepted is {\"content\":{…}} with \"seats\" (integer, required), " +
			"or just the value of \"seats\"; {\"approved\":false} or decline declines.\n\nApproval UUID: " + firstUUID
		same(t, "transcript", s.lines()[3:], []string{"assistant: " + text})
		same(t, "answer to the message", s.answer("r1"), text)
		same(t, "file", s.world.exported().Pending, v.Pending)
		if d := s.details(contract.ApprovalWorkflowID(firstUUID)); !strings.Contains(d, `"seats" (integer, required)`) || !strings.Contains(d, "Waiting for an answer") {
			t.Errorf("details:\n%s", d)
		}
		s.say("r2", "4")
		s.rest()
		s.nothingWaits()
		same(t, "marker", s.lines()[4:], []string{"user: [ANSWER]: Accepted"})
		s.unsettled("r2")
		s.end(quote())
		same(t, "answer", s.answer("r2"), "Done.")
		same(t, "end", s.lines()[5:], []string{"result quote: made", "assistant: Done."})
		record := s.outcome(firstUUID)
		same(t, "record", record, contract.ApprovalResult{
			UUID: firstUUID, ConversationID: conversationID, Tool: "quote", ArgumentsSHA256: quote().SHA256, Decision: contract.Approved,
			Via: "message", RequestID: "r2", RequestedAt: p.CreatedAt, DecidedAt: record.DecidedAt,
		})
	})
	made := s.seen.options(contract.ActivityCallTool.Name)
	same(t, "activity", made, scheduled{
		Name: contract.ActivityCallTool.Name, Summary: "quote on resources", Attempts: 3, Timeout: 24*time.Hour + 35*time.Second,
	})
	same(t, "input", s.world.calls[0].MayAsk, true)
	same(t, "summary", s.seen.children[0].Summary, "quote on resources waits for an answer")
	same(t, "statuses", s.seen.statuses, []string{"waiting_approval", "active", "completed"})
}

func TestTheAnswerGoesToTheApproval(t *testing.T) {
	for name, c := range map[string]struct {
		answer  any
		want    contract.Decision
		content string
		marker  string
	}{
		"content":  {typed(`{"content":{"seats":4},"by":"ops"}`), contract.Approved, `{"seats":4}`, "Accepted"},
		"a value":  {typed(`4`), contract.Approved, `{"seats":4}`, "Accepted"},
		"a no":     {typed(`"no"`), contract.Rejected, ``, "Declined"},
		"rejected": {contract.DecideSignal{}, contract.Rejected, ``, "Declined"},
	} {
		t.Run(name, func(t *testing.T) {
			in := contract.ApprovalInput{
				UUID: firstUUID, ConversationID: conversationID, Tool: "quote", Reason: contract.ReasonQuestion,
				Schema: contract.JSON{Raw: json.RawMessage(seatsSchema)},
			}
			r := runApprovalAlone(t, in, func(s *session) {
				s.rest()
				for _, wrong := range []string{`{"approved":true}`, `"many"`, `{"content":{"seats":"4"}}`, `{}`} {
					s.decideOn(firstUUID, typed(wrong))
					s.rest()
					if v := s.approval(firstUUID); v.Result != nil || !strings.Contains(v.Problem, `accepted is {"content":{…}}`) {
						t.Errorf("%s: %+v", wrong, v)
					}
				}
				s.decideOn(firstUUID, c.answer)
			})
			same(t, "decision", r.Decision, c.want)
			same(t, "content", string(r.Content.Raw), c.content)
			converseWithQuestion(t, quote(), func(s *session) {
				s.decideOn(firstUUID, c.answer)
				s.rest()
				same(t, "marker", s.lines()[4:], []string{"user: [ANSWER]: " + c.marker})
				same(t, "record", s.outcome(firstUUID).Content.IsZero(), true)
				s.end(quote())
				same(t, "end", s.lines()[5:], []string{"result quote: made", "assistant: Done."})
			})
		})
	}
}

func TestAMessageThatIsNoAnswerIsRefused(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		before := s.lines()
		s.say("r2", "many")
		s.message(contract.MessageSignal{RequestID: "r3", Text: contract.Text{Blob: &contract.Blob{SHA256: contract.Hash(nil), Size: 9}}})
		s.rest()
		same(t, "transcript", s.lines(), before)
		s.pending()
		r := s.request("r2")
		same(t, "refused", r.Refused, contract.KindInvalid)
		same(t, "text", r.Result.Response.Inline, `"seats" must be a number; accepted is {"content":{…}} with "seats" (integer, required), `+
			`or just the value of "seats"; {"approved":false} or decline declines`)
		same(t, "long", s.request("r3").Refused, contract.KindInvalid)
		s.message(contract.MessageSignal{RequestID: "r5", Text: contract.Inline("4"), NoAnswer: true})
		s.rest()
		same(t, "not meant as one", s.request("r5").Refused, contract.KindWaiting)
		s.say("r4", "no")
		s.rest()
		same(t, "marker", s.lines()[4:], []string{"user: [ANSWER]: Declined"})
		s.end(quote())
		same(t, "answer", s.answer("r4"), "Done.")
	})
}

func TestTheSchemaOfAQuestionMayBeOutsideOfHistory(t *testing.T) {
	w := &world{GenerateFn: script(asks(quote()), says("Done.")), CallToolFn: holdTools}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		q := s.question(firstUUID)
		q.Schema, q.Accepts = contract.JSON{Blob: w.keep([]byte(seatsSchema))}, answer.AcceptedBy([]byte(seatsSchema))
		s.ask(q)
		p := s.pending()
		same(t, "schema", p.Schema, q.Schema)
		for name, text := range map[string]string{"answer": s.answer("r1"), "details": s.details(contract.ApprovalWorkflowID(firstUUID))} {
			if !strings.Contains(text, `with "seats" (integer, required)`) {
				t.Errorf("%s: %s", name, text)
			}
		}
		s.say("r2", "many")
		s.rest()
		same(t, "refused", s.request("r2").Refused, contract.KindInvalid)
		if got := s.request("r2").Result.Response.Inline; !strings.HasPrefix(got, `"seats" must be a number; accepted is`) {
			t.Errorf("refused with %s", got)
		}
		s.decide(typed(`{"approved":true}`))
		s.rest()
		if v := s.approval(firstUUID); v.Result != nil || !strings.HasPrefix(v.Problem, `"seats" is missing; accepted is`) {
			t.Errorf("after a bare yes: %+v", v)
		}
		s.say("r3", "4")
		s.rest()
		s.nothingWaits()
		same(t, "record", s.outcome(firstUUID).RequestID, "r3")
		s.end(quote())
		same(t, "answer", s.answer("r3"), "Done.")
	})
}

func TestAnAnswerWhoseSchemaCannotBeReadLeavesTheQuestionOpen(t *testing.T) {
	w := &world{GenerateFn: script(asks(quote()), says("Done.")), CallToolFn: holdTools}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		q, lost := s.question(firstUUID), contract.NewBlob([]byte(seatsSchema))
		q.Schema, q.Accepts = contract.JSON{Blob: &lost}, "accepted is a number"
		s.ask(q)
		s.say("r2", "4")
		s.decide(typed(`4`))
		s.sleep(time.Minute)
		if got := s.request("r2").Result; got == nil || !strings.HasPrefix(got.Response.Inline, "the answer could not be read (read a value of") {
			t.Errorf("refused with %+v", got)
		}
		if v := s.approval(firstUUID); v.Result != nil || !strings.HasSuffix(v.Problem, "send it again") {
			t.Errorf("the approval: %+v", v)
		}
		same(t, "pending", s.pending().UUID, firstUUID)
	})
}

func TestOfTwoAnswersTheFirstCounts(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		s.say("r2", "4")
		s.say("r3", "5")
		s.rest()
		same(t, "late", s.request("r3").Refused, contract.KindDecided)
		s.unsettled("r2")
		s.end(quote())
		same(t, "answer", s.answer("r2"), "Done.")
	})
}

func TestACallMayAskOneQuestionAfterTheOther(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		s.say("r2", "4")
		s.rest()
		s.ask(s.question(firstUUID)) // again: it is a duplicate
		s.nothingWaits()
		s.ask(s.question(secondUUID))
		same(t, "pending", s.pending().UUID, secondUUID)
		r := s.request("r2")
		if !r.Settled || !r.Result.WaitingApproval || r.Result.Approval.UUID != secondUUID {
			t.Errorf("the answer to the first answer: %+v", r.Result)
		}
		s.say("r3", "5")
		s.rest()
		s.end(quote())
		same(t, "answer", s.answer("r3"), "Done.")
	})
}

func TestTheTurnMayBeCancelledWhileAQuestionWaits(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		s.cancel("c1", "")
		s.rest()
		s.nothingWaits()
		same(t, "decision", s.outcome(firstUUID).Decision, contract.Cancelled)
		same(t, "answer", s.answer("c1"), "The turn was cancelled.")
	})
	converseWithQuestion(t, book(), func(s *session) { // is completed, and asks no more questions
		s.cancel("c1", "")
		s.rest()
		s.nothingWaits()
		same(t, "decision", s.outcome(firstUUID).Decision, contract.Cancelled)
		s.unsettled("c1")
		s.ask(s.question(secondUUID))
		s.nothingWaits()
		s.end(book())
		same(t, "answer", s.answer("c1"), "The turn was cancelled.")
	})
}

func TestAQuestionIsWithdrawnWhenItsCallEnds(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		s.end(quote())
		s.nothingWaits()
		same(t, "end", s.lines()[4:], []string{"user: [ANSWER]: Cancelled", "result quote: made", "assistant: Done."})
		s.ask(s.question(secondUUID)) // too late
		s.nothingWaits()
		same(t, "transcript", len(s.lines()), 7)
	})
}

func TestALostAnswerOfADestructiveCallThatAskedGoesToAPerson(t *testing.T) {
	converseWithQuestion(t, book(), func(s *session) {
		s.release("book{}", nil, fails(contract.KindOutcomeUnknown, "the connection was lost"))
		s.rest()
		same(t, "question", s.outcome(firstUUID).Decision, contract.Cancelled)
		same(t, "reason", s.pending().Reason, contract.ReasonUnknownOutcome)
		s.reject()
		s.rest()
		same(t, "tried", len(s.world.ran()), 1)
		same(t, "attempts", s.seen.options(contract.ActivityCallTool.Name).Attempts, 1)
	})
}

func TestANewAttemptWithdrawsTheQuestionsOfTheOneBefore(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		again := s.question(secondUUID)
		again.Attempt = 2
		s.ask(again)
		same(t, "pending", s.pending().UUID, secondUUID)
		same(t, "first", s.outcome(firstUUID).Decision, contract.Cancelled)
		late := s.question("aaaaaaaa-0000-5000-8000-000000000003")
		s.ask(late) // from an earlier attempt
		same(t, "pending", s.pending().UUID, secondUUID)
		s.say("r2", "4")
		s.rest()
		s.end(quote())
		same(t, "answer", s.answer("r2"), "Done.")
	})
}

func TestAQuestionExpiresWithTheTimeThatItsCallHas(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		same(t, "timeout", s.seen.children[0].Input.Timeout, 24*time.Hour)
	})
}

func TestQuestionsThatMakeNoSenseAreIgnored(t *testing.T) {
	converseWithQuestion(t, quote(), func(s *session) {
		for _, raw := range []string{`{}`, `"x"`, `{"uuid":"x","call":"y"}`, `{"uuid":"` + secondUUID + `","call":"unknown"}`} {
			s.env.SignalWorkflow(contract.SignalQuestion, typed(raw))
			s.rest()
			same(t, "pending", s.pending().UUID, firstUUID)
		}
	})
}

func TestWhatAskedIsNeverALocalActivity(t *testing.T) {
	for _, mode := range []contract.Execution{contract.ExecutionLean, contract.ExecutionAuto} {
		w := &world{GenerateFn: script(asks(quote()), says("Done."))}
		s := converse(t, w, with(hello(), func(a *contract.Agent) { a.Execution = mode }), func(s *session) { s.rest() })
		same(t, "local", s.seen.options(contract.ActivityCallTool.Name).Local, false)
		same(t, "started", len(s.seen.all("start_call_tool")), 0)
	}
}

func TestWaitingForAnAnswerIsNotTheTimeOfTheNode(t *testing.T) {
	root := sequential("pipeline", llm("find", func(n *contract.Node) { n.Timeout = time.Hour }), llm("tell"))
	w := &world{GenerateFn: play(map[string][]any{"find": {asks(quote()), says("found")}}), CallToolFn: holdTools}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		node := contract.NodeWorkflowID(contract.TurnWorkflowID(conversationID, 1), "pipeline", 0)
		if err := s.env.SignalWorkflowByID(node, contract.SignalQuestion, s.question(firstUUID)); err != nil {
			t.Fatal(err)
		}
		s.rest()
		p := s.pending()
		same(t, "node", p.Node, "find")
		same(t, "states", s.states(), "pipeline:running[find:waiting tell:pending]")
		if r := s.request("r1"); r.Result == nil || !strings.HasPrefix(r.Result.Response.Inline, "The tool server resources asks") {
			t.Errorf("answer to the message: %+v", r)
		}
		s.sleep(2 * time.Hour)
		s.say("r2", "what?")
		s.rest()
		same(t, "refused", s.request("r2").Refused, contract.KindInvalid)
		s.say("r3", "4")
		s.rest()
		s.nothingWaits()
		s.release("quote{}", returns("made"), nil)
		s.rest()
		same(t, "answer", s.answer("r3"), "tell")
		same(t, "states", s.states(), "pipeline:done[find:done tell:done]")
		same(t, "record", s.outcome(firstUUID).RequestID, "r3")
	})
}

func TestBranchesAskSideBySide(t *testing.T) {
	root := parallel("both", llm("left"), llm("right"))
	reply := func(id string) contract.GenerateResult { return asks(mayAsk(callOf("ask_"+id, id, `{}`, false))) }
	w := &world{CallToolFn: holdTools, GenerateFn: play(map[string][]any{
		"left": {reply("left"), says("L")}, "right": {reply("right"), says("R")},
	})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		node := contract.NodeWorkflowID(contract.TurnWorkflowID(conversationID, 1), "both", 0)
		for i, c := range read(w, &w.calls) {
			q := s.question([]string{firstUUID, secondUUID}[i])
			q.Call = c.IdempotencyKey
			if err := s.env.SignalWorkflowByID(node, contract.SignalQuestion, q); err != nil {
				t.Fatal(err)
			}
			s.rest()
		}
		same(t, "waiting", len(s.view().Pending), 2)
		s.say("r2", "4") // is for the first
		s.rest()
		same(t, "first", s.outcome(firstUUID).Decision, contract.Approved)
		same(t, "second", s.pending().UUID, secondUUID)
		same(t, "answer to the answer", s.request("r2").Result.WaitingApproval, true)
		s.cancel("c1", "")
		s.rest()
		s.nothingWaits()
		same(t, "second", s.outcome(secondUUID).Decision, contract.Cancelled)
	})
}
