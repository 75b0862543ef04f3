package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

func TestAStreamHasASnapshotAndThenEveryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("one")}) })
		a := newAPI(t, s.backend())
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		if k := kinds(got.events()); k != "RUN_STARTED STATE_SNAPSHOT MESSAGES_SNAPSHOT RUN_FINISHED" {
			t.Fatal(k)
		}
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"} {
			if h := got.Header().Get(name); h != want {
				t.Errorf("%s %q", name, h)
			}
		}
		s.do(func() { s.answer(contract.MessageSignal{Name: "m2", Text: contract.Inline("two")}) })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if k := kinds(got.events()[4:]); !strings.HasPrefix(k, "RUN_STARTED STATE_SNAPSHOT TEXT_MESSAGE_START") || !strings.HasSuffix(k, "TEXT_MESSAGE_END RUN_FINISHED") {
			t.Error(k)
		}
		s.write(func(v *contract.ConversationView) { v.Status = contract.StatusCompleted })
		time.Sleep(5 * time.Second)
		<-got.done
	})
}

func TestAResumedReaderMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		for _, text := range []string{"one", "two", "three"} {
			s.do(func() { s.answer(contract.MessageSignal{Name: "m-" + text, Text: contract.Inline(text)}) })
		}
		s.write(func(v *contract.ConversationView) { v.Status = contract.StatusCompleted })
		a := newAPI(t, s.backend())
		defer a.Close()
		full := texts(a.open("GET", eventsPath+"?snapshot=false", "").whole())
		if strings.Join(full, " ") != "one answer to one two answer to two three answer to three" {
			t.Fatal(full)
		}
		all := a.open("GET", eventsPath+"?snapshot=false", "").whole()
		positions := 0
		for n, e := range all {
			if e.id == "" {
				continue
			}
			positions++
			before := texts(all[:n+1])
			for _, headers := range [][]string{{"Last-Event-ID: " + e.id}, nil} {
				target := eventsPath
				if headers == nil {
					target += "?after=" + strings.ReplaceAll(e.id, ";", "%3B")
				}
				rest := a.open("GET", target, "", headers...).whole()
				if got := append(append([]string{}, before...), texts(rest)...); strings.Join(held(all[:n+1], rest), " ") != strings.Join(full, " ") {
					t.Errorf("after %s: %q", e.id, got)
				}
			}
		}
		if positions < 6 {
			t.Errorf("%d positions", positions)
		}
	})
}

// texts returns the texts in a stream, message by message.
func texts(events []event) []string { return held(events) }

// held returns the texts that a client has after these streams.
func held(streams ...[]event) []string {
	var order []string
	text := map[string]string{}
	for _, events := range streams {
		for _, e := range events {
			switch id := e.text("messageId"); e.kind() {
			case "TEXT_MESSAGE_START":
				if _, ok := text[id]; !ok {
					order = append(order, id)
				}
			case "TEXT_MESSAGE_CONTENT":
				text[id] += e.text("delta")
			case "MESSAGES_SNAPSHOT":
				order, text = nil, map[string]string{}
				list, _ := e.data["messages"].([]any)
				for _, m := range list {
					m := event{data: m.(map[string]any)}
					order = append(order, m.text("id"))
					text[m.text("id")] = m.text("content")
				}
			}
		}
	}
	var out []string
	for _, id := range order {
		out = append(out, text[id])
	}
	return out
}

func TestErrorsComeBeforeTheStream(t *testing.T) {
	s := newScript()
	a := newAPI(t, s.backend())
	a.wantError(404, "conversation not found", a.do("GET", "/conversations/nope/events", ""))
	a.wantError(404, "conversation not found", a.do("GET", "/conversations/"+otherID+"/events", ""))
	a.wantError(400, "is not the id of an event", a.do("GET", eventsPath, "", "Last-Event-ID: x"))
	a.wantError(400, "is not the id of an event", a.do("GET", eventsPath+"?after=1.zz", ""))
	a.wantError(400, "snapshot: expected", a.do("GET", eventsPath+"?snapshot=maybe", ""))
	s.do(func() { s.readErr = service.Errorf(service.KindUnavailable, "no worker") })
	a.wantError(503, "no worker", a.do("GET", eventsPath, ""))
	a.wantError(503, "no worker", a.do("HEAD", eventsPath, ""))
	s.do(func() { s.readErr = nil })
	if r := a.want(200, a.do("HEAD", eventsPath, "")); r.raw != "" || r.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%+v", r)
	}
	a.Close()
	a.wantError(503, "shutting down", a.do("GET", eventsPath, ""))
}

func TestAStreamHasNoDeadlineAndSendsKeepAlives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(t, newScript().backend(), impatient)
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(got.raw(), ": keep-alive\n\n"); n != 4 {
			t.Errorf("%d signs of life in a minute: %q", n, got.raw())
		}
		got.leave()
		<-got.done
	})
}

func TestShutdownEndsStreamsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		a := newAPI(t, s.backend())
		got := a.open("GET", eventsPath, "")
		turn := a.open("POST", messages, `{"message":"m"}`, asEvents)
		synctest.Wait()
		s.do(func() { s.begin(s.sent[0]) })
		time.Sleep(time.Second)
		synctest.Wait()
		start := time.Now()
		a.Close()
		<-got.done
		<-turn.done
		if took := time.Since(start); took != 0 {
			t.Errorf("took %s", took)
		}
		if e := got.events(); e[len(e)-1].text("name") != "agent-stop-and-go.reconnect" {
			t.Error(kinds(e))
		}
		if e := turn.events(); e[len(e)-1].text("code") != "reconnect" {
			t.Error(kinds(e))
		}
	})
}

func TestAReplyIsShownWhileItIsGenerated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), func(d *gateway.Deps) { d.Feed = f })
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		m := contract.MessageSignal{Name: "m1", RequestID: otherID, Text: contract.Inline("hi")}
		s.do(func() { s.begin(m) })
		f.publish(contract.Event{Draft: &generation.Draft{ID: "draft-m1", Attempt: 1}})
		f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-m1", Kind: generation.Text, Text: "answer "}})
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-m1", Kind: generation.Text, Text: "to "}})
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "hi|answer to " {
			t.Errorf("%q", now)
		}
		late := a.open("GET", eventsPath, "")
		synctest.Wait()
		if now := texts(late.events()); strings.Join(now, "|") != "hi|answer to " {
			t.Errorf("one who came late reads %q", now)
		}
		s.do(func() { s.finish(m, "answer to hi") })
		reads := s.reads
		now := s.view
		f.publish(contract.Event{Settled: &now})
		synctest.Wait()
		for _, r := range []*stream{got, late} {
			if now := texts(r.events()); strings.Join(now, "|") != "hi|answer to hi" || !strings.HasSuffix(kinds(r.events()), "RUN_FINISHED") {
				t.Errorf("%q in %s", now, kinds(r.events()))
			}
		}
		if s.reads != reads {
			t.Error("a state that came with an event was read again")
		}
	})
}
