package gateway_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

func TestAMessageIsAnsweredWithTheEventsOfItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.do(func() { s.answer(contract.MessageSignal{Name: "old", Text: contract.Inline("before")}) })
		s.onMessage = s.answer
		a := newAPI(t, s.backend())
		defer a.Close()
		got := a.open("POST", messages, `{"message":"hi"}`, asEvents, "Idempotency-Key: k")
		events := got.whole()
		if now := texts(events); strings.Join(now, "|") != "hi|answer to hi" || !strings.HasSuffix(kinds(events), "RUN_FINISHED") {
			t.Errorf("%q in %s", now, kinds(events))
		}
		s.do(func() { s.answer(contract.MessageSignal{Name: "later", Text: contract.Inline("after")}) })
		again := a.open("POST", messages, `{"message":"hi"}`, asEvents, "Idempotency-Key: k").whole()
		if now := texts(again); strings.Join(now, "|") != "hi|answer to hi" {
			t.Errorf("a repetition reads %q in %s", now, kinds(again))
		}
		if len(s.sent) != 1 {
			t.Errorf("sent %d", len(s.sent))
		}
		a.wantError(422, "Idempotency-Key was used", a.do("POST", messages, `{"message":"other"}`, asEvents, "Idempotency-Key: k"))
	})
}

func TestATurnIsFollowedWhileItRunsAndEndsBeforeTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		var got []*stream
		a := newAPI(t, s.backend())
		defer a.Close()
		for _, text := range []string{"one", "two"} {
			got = append(got, a.open("POST", messages, `{"message":"`+text+`"}`, asEvents))
			synctest.Wait()
		}
		s.do(func() { s.begin(s.sent[0]) })
		time.Sleep(time.Second)
		synctest.Wait()
		if k := kinds(got[0].events()); !strings.HasPrefix(k, "RUN_STARTED") || strings.Contains(k, "FINISHED") {
			t.Error(k)
		}
		if got[1].raw() != "" {
			t.Errorf("a turn that has not begun sends %q", got[1].raw())
		}
		s.do(func() { s.finish(s.sent[0], "uno"); s.begin(s.sent[1]) })
		if now := texts(got[0].whole()); strings.Join(now, "|") != "one|uno" {
			t.Errorf("%q", now)
		}
		s.do(func() { s.finish(s.sent[1], "due") })
		if now := texts(got[1].whole()); strings.Join(now, "|") != "two|due" {
			t.Errorf("%q", now)
		}
	})
}

func TestAConversationThatBeginsWithAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.exists, s.onMessage = false, s.answer
		a := newAPI(t, s.backend())
		defer a.Close()
		got := a.open("POST", "/conversations", `{"message":"hi"}`, asEvents)
		events := got.whole()
		if now := texts(events); strings.Join(now, "|") != "hi|answer to hi" || got.Code != 201 || got.Header().Get("Location") != "/conversations/"+s.view.ID {
			t.Errorf("%d %q in %s", got.Code, now, kinds(events))
		}
		if events[0].text("threadId") != s.view.ID {
			t.Error(events[0])
		}
	})
}

func TestARefusalIsNoStream(t *testing.T) {
	s := newScript()
	a := newAPI(t, s.backend())
	a.wantError(400, "message is required", a.do("POST", messages, `{}`, asEvents))
	a.wantError(404, "conversation not found", a.do("POST", "/conversations/"+otherID+"/messages", `{"message":"m"}`, asEvents))
	a.want(202, a.do("POST", messages, `{"message":"m"}`, asEvents, "Prefer: respond-async"))
	s.do(func() {
		s.ask(contract.MessageSignal{}, contract.PendingApproval{UUID: someUUID, ToolName: "add", ToolArgs: addArgs})
	})
	a.wantError(409, "waiting for approval", a.do("POST", messages, `{"message":"m"}`, asEvents))
	s.write(func(v *contract.ConversationView) { v.Status, v.Pending = contract.StatusCompleted, nil })
	a.wantError(409, "completed", a.do("POST", messages, `{"message":"m"}`, asEvents))
	r := newScript()
	r.exists = false
	b := newAPI(t, r.backend())
	b.wantError(400, "invalid request body", b.do("POST", "/conversations", `{`, asEvents))
}

func TestATurnWithAnApprovalEndsWithAnInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.onMessage = func(m contract.MessageSignal) {
			s.begin(m)
			s.ask(m, contract.PendingApproval{UUID: someUUID, ToolName: "add", ToolArgs: addArgs, Reason: contract.ReasonDestructive})
		}
		a := newAPI(t, s.backend())
		defer a.Close()
		events := a.open("POST", messages, `{"message":"hi"}`, asEvents).whole()
		if outcome, _ := events[len(events)-1].data["outcome"].(map[string]any); outcome["type"] != "interrupt" {
			t.Errorf("%v", events[len(events)-1])
		}
	})
}

func TestAMessageThatAnswersAQuestionStreamsTheRestOfTheTurn(t *testing.T) {
	form := contract.JSON{Raw: []byte(`{"type":"object"}`)}
	for name, q := range map[string]contract.PendingApproval{
		"of a server here": {Reason: contract.ReasonQuestion},
		"of another agent": {Reason: contract.ReasonRemote, Schema: form, Origin: &contract.Origin{Reason: contract.ReasonQuestion, Schema: form}},
	} {
		t.Run(name, func(t *testing.T) { messageAnswers(t, q) })
	}
}

func messageAnswers(t *testing.T, q contract.PendingApproval) {
	q.UUID, q.ToolName, q.ToolArgs = someUUID, "quote", addArgs
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		asks := contract.MessageSignal{RequestID: otherID, Name: "m0", Text: contract.Inline("go")}
		s.do(func() {
			s.begin(asks)
			s.ask(asks, q)
		})
		s.onMessage = func(m contract.MessageSignal) {
			s.change(func(v *contract.ConversationView) { v.Pending, v.Running, v.Status = nil, true, contract.StatusActive })
		}
		a := newAPI(t, s.backend())
		defer a.Close()
		got := a.open("POST", messages, `{"message":"4"}`, asEvents)
		time.Sleep(time.Second)
		synctest.Wait()
		if k := kinds(got.events()); !strings.HasPrefix(k, "RUN_STARTED") {
			t.Errorf("the work that goes on is not shown: %s", k)
		}
		s.do(func() { s.finish(s.sent[0], "quoted") })
		if now := texts(got.whole()); strings.Join(now, "|") != "quoted" {
			t.Errorf("%q", now)
		}
	})
}

func TestAQuestionThatWasNotReadYetIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		a := newAPI(t, s.backend())
		defer a.Close()
		a.open("GET", eventsPath, "")
		synctest.Wait()
		asks := contract.MessageSignal{RequestID: otherID, Name: "m0", Text: contract.Inline("go")}
		s.do(func() {
			s.begin(asks)
			s.ask(asks, contract.PendingApproval{UUID: someUUID, ToolName: "quote", ToolArgs: addArgs, Reason: contract.ReasonQuestion})
		})
		s.onMessage = func(m contract.MessageSignal) {
			s.change(func(v *contract.ConversationView) { v.Pending, v.Running, v.Status = nil, true, contract.StatusActive })
		}
		got := a.open("POST", messages, `{"message":"4"}`, asEvents)
		time.Sleep(time.Second)
		synctest.Wait()
		if k := kinds(got.events()); !strings.HasPrefix(k, "RUN_STARTED") {
			t.Errorf("the work that goes on is not shown: %s", k)
		}
		s.do(func() { s.finish(s.sent[0], "quoted") })
		if now := texts(got.whole()); strings.Join(now, "|") != "quoted" {
			t.Errorf("%q", now)
		}
	})
}

func TestPiecesOfACancelledTurnAreNotInTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		one := contract.MessageSignal{Name: "m1", RequestID: otherID, Text: contract.Inline("one")}
		s.do(func() { s.begin(one) })
		say := func(draft, text string) {
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: draft, Kind: generation.Text, Text: text}})
		}
		got := a.open("POST", messages, `{"message":"two"}`, asEvents)
		synctest.Wait()
		f.publish(contract.Event{Draft: &generation.Draft{ID: "void"}})
		say("void", "fla")
		time.Sleep(time.Second)
		say("void", "sh")
		s.do(func() { s.finish(one, "The turn was cancelled."); s.begin(s.sent[0]) })
		f.publish(contract.Event{Draft: &generation.Draft{ID: "mine"}})
		say("mine", "answer ")
		say("void", "ed")
		time.Sleep(time.Second)
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "two|answer " || strings.Contains(got.raw(), "fla") {
			t.Errorf("%q in %s", now, got.raw())
		}
		s.do(func() { s.finish(s.sent[0], "answer to two") })
		got.whole()
	})
}

func TestAcceptSelectsTheReply(t *testing.T) {
	for accept, want := range map[string]bool{
		"text/event-stream": true, "application/json, text/event-stream": true, "TEXT/event-stream; q=0.5": true,
		"application/json": false, "*/*": false, "": false, "text/event-stream;q=0": false,
		"application/json, text/event-stream;q=0.9": false, "text/event-stream;q=x, ;;": true,
	} {
		s := newScript()
		s.onMessage = s.answer
		a := newAPI(t, s.backend())
		r := a.want(200, a.do("POST", messages, `{"message":"m"}`, "Accept: "+accept))
		if got := strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream"); got != want {
			t.Errorf("%q: %s", accept, r.header.Get("Content-Type"))
		}
	}
}

func TestADisconnectingClientStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		a := newAPI(t, s.backend())
		defer a.Close()
		got := a.open("POST", messages, `{"message":"m"}`, asEvents)
		synctest.Wait()
		got.leave()
		<-got.done
		if len(s.sent) != 1 || !slices.Equal(kindsOf(s.sent), []string{"m"}) {
			t.Errorf("%+v", s.sent)
		}
	})
}

func kindsOf(sent []contract.MessageSignal) []string {
	var out []string
	for _, m := range sent {
		out = append(out, m.Text.Inline)
	}
	return out
}

// The messages that come with the beginning of a reply begin the turn for its readers. A read
// would delay them, and a call that the conversation waits for.
func TestTheFirstPieceOfAReplyWaitsForNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		reads := 0
		s.onMessage = func(m contract.MessageSignal) {
			s.begin(m)
			reads = s.reads
			now := s.view.Transcript
			f.publish(contract.Event{Draft: &generation.Draft{ID: "draft-m1", Attempt: 1}, Transcript: &now})
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-m1", Kind: generation.Text, Text: "answer "}})
		}
		got := a.open("POST", messages, `{"message":"hi"}`, asEvents)
		synctest.Wait()
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "hi|answer " || s.reads != reads {
			t.Errorf("%q after %d reads", now, s.reads-reads)
		}
		s.do(func() { s.finish(s.sent[0], "answer to hi") })
		if run := kinds(got.whole()); !strings.HasSuffix(run, "RUN_FINISHED") {
			t.Error(run)
		}
	})
}

// The first reply of a conversation begins before the request that starts it has returned.
func TestTheFirstReplyOfAConversationIsStreamedFromItsBeginning(t *testing.T) {
	for path, body := range map[string]string{
		"/conversations":       `{"message":"hi"}`,
		"/ag-ui":               runOf(hi),
		"/v1/chat/completions": `{"model":"helper","stream":true,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1/responses":        `{"model":"helper","stream":true,"input":"hi"}`,
	} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, f := newScript(), &feed{}
				s.exists = false
				a := newAPI(t, s.backend(), withFeed(f))
				defer a.Close()
				s.onMessage = func(m contract.MessageSignal) {
					s.begin(m)
					now := s.view.Transcript
					f.publish(contract.Event{Draft: &generation.Draft{ID: "draft-" + m.Name, Attempt: 1}, Transcript: &now})
					f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-" + m.Name, Kind: generation.Text, Text: "answer"}})
				}
				got := a.open("POST", path, body, asEvents)
				synctest.Wait()
				time.Sleep(time.Second)
				synctest.Wait()
				if now := got.raw(); !strings.Contains(now, "answer") && !strings.Contains(now, `"delta":"a"`) { // a response has whole words, but for its first character
					t.Errorf("while the reply is written, the stream has only %q", now)
				}
				s.do(func() { s.finish(s.sent[0], "answer") })
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if now := got.raw(); !strings.Contains(now, "nswer") {
					t.Errorf("at the end, the stream has %q", now)
				}
			})
		})
	}
}
