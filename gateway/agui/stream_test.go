package agui

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/wording"
)

func say(role contract.Role, id, text string) contract.Message {
	return contract.Message{ID: id, Role: role, Content: contract.Inline(text)}
}

func call(id, reply, draft, tool, args string) contract.Message {
	return contract.Message{ID: id, Role: contract.RoleAssistant, Reply: reply, DraftID: draft, ToolCall: &contract.ToolCall{
		ID: "p", Name: tool, Arguments: contract.JSON{Raw: json.RawMessage(args)},
	}}
}

func result(id, reply, tool, text string) contract.Message {
	return contract.Message{ID: id, Role: contract.RoleTool, Reply: reply, ToolCall: &contract.ToolCall{
		ID: "p", Name: tool, Result: contract.Inline(text),
	}}
}

func working(messages ...contract.Message) State { return State{Messages: messages, Running: true} }

func idle(messages ...contract.Message) State { return State{Messages: messages} }

func waiting(p contract.PendingApproval, messages ...contract.Message) State {
	return State{Messages: messages, Document: document.Conversation{PendingApprovals: []contract.PendingApproval{p}}}
}

// short returns the types of events and the IDs they are about.
func short(events []Event) string {
	var out []string
	for _, e := range events {
		s := ""
		switch d := e.Data.(type) {
		case TextStart:
			s = "text+ " + d.MessageID
		case Piece:
			s = "'" + d.Delta + "'"
		case Mark:
			s = strings.ToLower(strings.TrimPrefix(string(d.Type), "TEXT_MESSAGE_")) + " " + d.MessageID
		case CallStart:
			s = "call+ " + d.ToolCallID + " of " + d.ParentMessageID
		case CallArgs:
			s = d.Delta
		case CallEnd:
			s = "call- " + d.ToolCallID
		case CallResult:
			s = "result " + d.MessageID + " of " + d.ToolCallID
		case MessagesSnapshot:
			s = "all"
			for _, m := range d.Messages {
				s += " " + m.ID
			}
		case Custom:
			s = d.Name
		case RunStarted:
			s = "run+ " + d.RunID
		case RunFinished:
			s = "run- " + string(d.Outcome.Type)
		case RunError:
			s = "error " + d.Code
		case Step:
			s = string(d.Type) + " " + d.StepName
		case StateSnapshot, StateDelta:
			continue
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestStream(t *testing.T) {
	u := say(contract.RoleUser, "u", "hi")
	drafted := say(contract.RoleAssistant, "m", "hello")
	drafted.DraftID = "d"
	text := func(s string) func(*Stream) []Event {
		return func(x *Stream) []Event {
			return x.Delta(generation.Delta{DraftID: "d", Kind: generation.Text, Text: s})
		}
	}
	announce := func(x *Stream) []Event { return x.Draft(generation.Draft{ID: "d", Attempt: 1}) }
	again := func(x *Stream) []Event { return x.Draft(generation.Draft{ID: "d", Attempt: 2}) }
	update := func(st State) func(*Stream) []Event {
		return func(x *Stream) []Event { return x.Update(st) }
	}
	piece := func(k generation.Kind, tool, s string) func(*Stream) []Event {
		return func(x *Stream) []Event {
			return x.Delta(generation.Delta{DraftID: "d", Kind: k, Tool: tool, Text: s})
		}
	}
	for name, c := range map[string]struct {
		do   []func(*Stream) []Event
		want string
	}{
		"settled text": {[]func(*Stream) []Event{update(idle(u, drafted))}, "run+ run-u, text+ u, 'hi', end u, text+ d, 'hello', end d, run- success"},
		"a draft that is right": {[]func(*Stream) []Event{update(working(u)), announce, text("hel"), text("lo"), update(idle(u, drafted))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'hel', 'lo', end d, run- success"},
		"the rest of a draft": {[]func(*Stream) []Event{update(working(u)), announce, text("he"), update(idle(u, drafted))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'he', 'llo', end d, run- success"},
		"a gap": {[]func(*Stream) []Event{update(working(u)), announce, text("he"), text("o"), update(idle(u, drafted))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'he', 'o', end d, all u d, run- success"},
		"another attempt": {[]func(*Stream) []Event{update(working(u)), announce, text("hel"), announce, text("he"), text("llo"), update(idle(u, drafted))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'hel', 'lo', end d, run- success"},
		"an attempt after one without an answer": {[]func(*Stream) []Event{update(working(u)), announce, again, text("hello"), update(idle(u, drafted))},
			"run+ run-u, text+ u, 'hi', end u, agent-stop-and-go.attempt, text+ d, 'hello', end d, run- success"},
		"an attempt that is under way when the reader comes": {[]func(*Stream) []Event{update(working(u)), again},
			"run+ run-u, text+ u, 'hi', end u, agent-stop-and-go.attempt"},
		"an attempt after the end": {[]func(*Stream) []Event{update(idle(u, drafted)), again}, "run+ run-u, text+ u, 'hi', end u, text+ d, 'hello', end d, run- success"},
		"never settled": {[]func(*Stream) []Event{update(working(u)), announce, text("he"), update(idle(u, say(contract.RoleAssistant, "m", wording.TurnCancelled("no"))))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'he', end d, all u, text+ m, 'The turn was cancelled. no', end m, run- cancelled"},
		"not announced": {[]func(*Stream) []Event{update(working(u)), text("x")}, "run+ run-u, text+ u, 'hi', end u"},
		"settled already": {[]func(*Stream) []Event{update(working(u, drafted)), announce, text("x")},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'hello', end d"},
		"a rune in halves": {[]func(*Stream) []Event{update(working(u)), announce, text("\xc3"), text("\xa9")}, "run+ run-u, text+ u, 'hi', end u, text+ d, 'é'"},
		"thoughts": {[]func(*Stream) []Event{update(working(u)), announce, piece(generation.Reasoning, "", "hm"), text("he")},
			"run+ run-u, text+ u, 'hi', end u, reasoning_start d-reasoning-1, reasoning_message_start d-reasoning-1, 'hm', " +
				"reasoning_message_end d-reasoning-1, reasoning_end d-reasoning-1, text+ d, 'he'"},
		"arguments that are the same": {[]func(*Stream) []Event{update(working(u)), announce, piece(generation.Call, "add", ""),
			piece(generation.Arguments, "", `{"a": 1}`), update(working(u, call("c", "r", "d", "add", `{"a":1}`)))},
			`run+ run-u, text+ u, 'hi', end u, call+ d-0 of d, {"a": 1}, call- d-0`},
		"arguments that were coerced": {[]func(*Stream) []Event{update(working(u)), announce, piece(generation.Call, "add", ""),
			piece(generation.Arguments, "", `{"a":"1"}`), update(working(u, call("c", "r", "d", "add", `{"a":1}`)))},
			`run+ run-u, text+ u, 'hi', end u, call+ d-0 of d, {"a":"1"}, call- d-0, all u d`},
		"calls without a draft": {[]func(*Stream) []Event{update(working(u, call("c", "c", "", "add", `{}`), call("e", "c", "", "list", `null`), result("g", "c", "list", "ok")))},
			"run+ run-u, text+ u, 'hi', end u, call+ c of c, {}, call- c, call+ e of c, {}, call- e, result g of e"},
		"a call without a result": {[]func(*Stream) []Event{update(idle(u, call("c", "c", "d", "add", `{}`)))},
			"run+ run-u, text+ u, 'hi', end u, call+ d-0 of d, {}, call- d-0, result d-0-result of d-0, run- success"},
		"a turn after the other": {[]func(*Stream) []Event{update(working(u)), update(working(u, drafted, say(contract.RoleUser, "v", "ho"))), update(idle(u, drafted, say(contract.RoleUser, "v", "ho")))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'hello', end d, run- success, run+ run-v, text+ v, 'ho', end v, run- success"},
		"a draft before its message": {[]func(*Stream) []Event{update(working(u)), announce, text("he"), update(working(u, say(contract.RoleAssistant, "x", "new")))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'he', end d, all u, text+ x, 'new', end x, text+ d, 'he'"},
		"failure": {[]func(*Stream) []Event{update(working(u)), announce, text("he"), func(x *Stream) []Event { return x.Fail("no", "code") },
			func(x *Stream) []Event { return x.Fail("no", "code") }, update(idle(u))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'he', error code, run+ run-u-2, all u, run- success"},
		"nothing new":   {[]func(*Stream) []Event{update(idle(u)), update(idle(u))}, "run+ run-u, text+ u, 'hi', end u, run- success"},
		"what vanishes": {[]func(*Stream) []Event{update(idle(u, drafted)), update(idle(u))}, "run+ run-u, text+ u, 'hi', end u, text+ d, 'hello', end d, run- success, run+ run-u-2, all u, run- success"},
		"a draft that was not recorded": {[]func(*Stream) []Event{update(idle(u, drafted)), update(idle(u, say(contract.RoleAssistant, drafted.ID, "stopped")))},
			"run+ run-u, text+ u, 'hi', end u, text+ d, 'hello', end d, run- success, run+ run-u-2, all u, text+ " + drafted.ID + ", 'stopped', end " + drafted.ID + ", run- success"},
	} {
		s := New(Options{ThreadID: "t"})
		var events []Event
		for _, f := range c.do {
			events = append(events, f(s)...)
		}
		if got := short(events); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	u, c := say(contract.RoleUser, "u", "hi"), call("c", "r", "d", "add", `{"a": 1}`)
	p := contract.PendingApproval{UUID: "x", ToolName: "add", ToolArgs: contract.JSON{Raw: []byte(`{"a":1}`)}, Description: "may I?"}
	for _, k := range []struct {
		reason        contract.Reason
		want, reason2 string
	}{
		{contract.ReasonDestructive, "interrupt", "tool_call"}, {contract.ReasonQuestion, "interrupt", "input_required"},
		{contract.ReasonLimit, "interrupt", "confirmation"}, {contract.ReasonUnknownOutcome, "interrupt", "confirmation"},
		{contract.ReasonNotReached, "interrupt", "confirmation"}, {contract.ReasonRemote, "interrupt", "confirmation"},
		{contract.ReasonClientTool, "success", ""},
	} {
		p.Reason = k.reason
		events := New(Options{ThreadID: "t", RunID: "r1"}).Update(waiting(p, u, c))
		end := events[len(events)-1].Data.(RunFinished)
		if string(end.Outcome.Type) != k.want || end.RunID != "r1" {
			t.Errorf("%s: %+v", k.reason, end)
		}
		if k.reason2 == "" {
			if !slices.Equal(end.Outcome.PendingToolCallIDs, []string{"d-0"}) {
				t.Errorf("pending: %v", end.Outcome.PendingToolCallIDs)
			}
			continue
		}
		i := end.Outcome.Interrupts[0]
		if i.ID != "x" || i.Reason != k.reason2 || i.ToolCallID != "d-0" || i.Message != "may I?" || !json.Valid(i.ResponseSchema) {
			t.Errorf("%s: %+v", k.reason, i)
		}
	}
	for _, reason := range []contract.Reason{contract.ReasonQuestion, contract.ReasonClientTool} { // asked by another agent
		form := contract.JSON{Raw: []byte(`{"type":"object","properties":{"seats":{"type":"integer"}}}`)}
		p.Reason, p.Schema, p.Origin = contract.ReasonRemote, form, &contract.Origin{Reason: reason, Schema: form}
		events := New(Options{ThreadID: "t"}).Update(waiting(p, u, c))
		i := events[len(events)-1].Data.(RunFinished).Outcome.Interrupts[0]
		if i.Reason != InterruptInput || !strings.Contains(string(i.ResponseSchema), `"content":`+string(form.Raw)) {
			t.Errorf("%s of another agent: %+v", reason, i)
		}
	}
	p.Schema, p.Origin = contract.JSON{}, nil
	p.Reason, p.ToolName = contract.ReasonDestructive, "other"
	events := New(Options{ThreadID: "t"}).Update(waiting(p, u, c))
	if i := events[len(events)-1].Data.(RunFinished).Outcome.Interrupts[0]; i.Reason != InterruptApproval || i.ToolCallID != "" {
		t.Errorf("%+v", i)
	}
}

func TestTree(t *testing.T) {
	m := say(contract.RoleAssistant, "m", "[a] hello")
	m.Node = "a"
	st := working(say(contract.RoleUser, "u", "hi"), m)
	st.Tree = &document.Tree{Tree: document.Node{Name: "root", Status: contract.NodeRunning, Agents: []document.Node{
		{Name: "a", Status: contract.NodeDone}, {Name: "b", Status: contract.NodeRunning},
	}}}
	s := New(Options{ThreadID: "t"})
	got := short(s.Update(st))
	st.Running = false
	got += ", " + short(s.Update(st))
	if want := "run+ run-u, STEP_STARTED root, STEP_STARTED b, text+ u, 'hi', end u, text+ m, 'hello', end m, " +
		"STEP_FINISHED b, STEP_FINISHED root, run- success"; got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
}

func TestResume(t *testing.T) {
	a, b, n := say(contract.RoleUser, "a", "hi"), say(contract.RoleAssistant, "b", "ho"), say(contract.RoleAssistant, "n", "note")
	n.Notice = true
	var at, foreign Position
	for _, e := range record.Read(record.Source{Messages: []contract.Message{a, n}}) {
		at.Add(e, 2)
	}
	for _, e := range record.Read(record.Source{Messages: []contract.Message{a, say(contract.RoleAssistant, "n", "another")}}) {
		foreign.Add(e, 2)
	}
	if again, err := ParsePosition(at.String()); err != nil || again.String() != at.String() {
		t.Fatal(again, err)
	}
	open := at
	open.open = true
	known := func(id string) bool { return id == "a" }
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"after":    {Options{After: at}, "text+ b, 'ho', end b"},
		"open":     {Options{After: open}, "all a, text+ b, 'ho', end b"},
		"foreign":  {Options{After: foreign}, "all, all a b, agent-stop-and-go.notice"},
		"snapshot": {Options{Snapshot: true}, "all a b"},
		"known":    {Options{Known: known}, "agent-stop-and-go.notice, text+ b, 'ho', end b"},
	} {
		s := New(c.o)
		events := s.Update(idle(a, n, b))
		if got, want := short(events), "run+ run-a, "+c.want+", run- success"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	for _, bad := range []string{"x", "1", "-1.0", "1.0;a", "1.0;a=0", "1.0;%=1"} {
		if _, err := ParsePosition(bad); err == nil {
			t.Errorf("%q is no position", bad)
		}
	}
}

func TestASnapshotHasNoPreface(t *testing.T) {
	m := contract.Message{ID: "a", Role: contract.RoleUser, Content: contract.Inline("[context] page: /\n\nhello"), Preface: 19}
	var got string
	for _, e := range New(Options{Snapshot: true}).Update(idle(m)) {
		if all, ok := e.Data.(MessagesSnapshot); ok {
			got = *all.Messages[0].Content
		}
	}
	if got != "hello" {
		t.Errorf("%q", got)
	}
	for _, typed := range []int{-1, 1 << 40} { // typed by hand into a signal
		m.Preface = typed
		New(Options{}).Update(idle(m))
	}
}

func TestDone(t *testing.T) {
	s, st := New(Options{ThreadID: "t"}), working()
	s.Update(st)
	st.Running, st.Document.Status = false, contract.StatusCompleted
	if s.Done() || s.Update(st) == nil || !s.Done() {
		t.Error("a completed conversation is done when its run has finished")
	}
}

func TestALongReplyTakesTimeByItsLengthOnly(t *testing.T) {
	s := New(Options{})
	st := State{Running: true}
	st.Document.Status = contract.StatusActive
	s.Update(st)
	s.Draft(generation.Draft{ID: "d"})
	s.Delta(generation.Delta{DraftID: "d", Kind: generation.Call, Tool: "add"})
	const pieces = 50_000
	bytes := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			for range pieces {
				s.Delta(generation.Delta{DraftID: "d", Kind: generation.Text, Text: "12345678"})
				s.Delta(generation.Delta{DraftID: "d", Kind: generation.Arguments, Text: "12345678"})
			}
		}
	}).AllocedBytesPerOp()
	if bytes > pieces*4096 {
		t.Errorf("%d bytes for a piece", bytes/pieces)
	}
}
