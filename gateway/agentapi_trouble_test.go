package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// A client stops reading at done, so what a command answers in the middle of a turn must not end it.
func TestACommandEndsNoTurnOfAnother(t *testing.T) {
	m := newMany(t)
	m.work = func(s *script) func(contract.MessageSignal) { return s.begin }
	a := agentAPIOf(t, m)
	a.submit("api-c", "drop all")
	s := a.stream(a.api, "/api/v1/stream/api-c")
	a.submit("api-c", "!help")
	script := theOnly(t, m)
	for range 2 { // each is sent before the next
		s.text("Commands:")
		a.submit("api-c", "!help")
	}
	script.do(func() { script.wait(script.sent[0], someUUID) })
	if _, data := s.until("gate"); !strings.Contains(data, someUUID) {
		t.Error(data)
	}
	a.submit("api-c", "!help")
	s.text("Commands:")
	script.do(func() {
		script.change(func(v *contract.ConversationView) { v.Pending = nil })
		script.finish(script.sent[0], "it is dropped")
	})
	if got, _ := s.until("done"); !strings.HasSuffix(got, "it is dropped") {
		t.Errorf("%q", got)
	}
	a.submit("api-c", "!help")
	s.until("done")
}

// A conversation that has ended may be read as it was before. It is not sent once more.
func TestAStreamSendsNothingTwice(t *testing.T) {
	m := newMany(t)
	ended, stale := atomic.Bool{}, atomic.Int32{}
	read, before := m.ConversationFn, contract.ConversationView{}
	m.ConversationFn = func(id, request string) (contract.ConversationView, error) {
		v, err := read(id, request)
		if v.Status == contract.StatusCompleted {
			// The stream has been sent the end; now it looks for what comes next.
			if ended.Swap(true) && stale.Add(1) <= 2 {
				return before, nil
			}
		}
		return v, err
	}
	a := agentAPIOf(t, m)
	a.submit("tty", "one")
	s := a.stream(a.api, "/api/v1/stream/tty")
	s.until("done")
	a.submit("tty", "two")
	s.until("done")
	script := theOnly(t, m)
	before = script.view
	script.write(func(v *contract.ConversationView) { v.Status = contract.StatusCompleted })
	for stale.Load() == 0 { // the stream has not looked for it yet
		time.Sleep(time.Millisecond)
	}
	a.submit("tty", "three")
	if got, _ := s.until("done"); got != "answer to three" {
		t.Errorf("%q", got)
	}
}

// Clients may show tool_args alone, whose operation_type is that of the port.
func TestArgumentsWithAnOperationTypeAreShownAsText(t *testing.T) {
	m := newMany(t)
	m.work = func(s *script) func(contract.MessageSignal) {
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			s.ask(msg, contract.PendingApproval{UUID: someUUID, ToolName: "drop", Description: `drop {"operation_type":"truncate"}`,
				ToolArgs: contract.JSON{Raw: json.RawMessage(`{"operation_type":"truncate"}`)}})
		}
	}
	a := agentAPIOf(t, m)
	a.submit("api-c", "drop all")
	s := a.stream(a.api, "/api/v1/stream/api-c")
	s.text("/#/a/" + someUUID)
	if got := a.do(400, a.api, "POST", "/api/v1/gate/"+someUUID, `{"approve":true}`); !strings.Contains(fmt.Sprint(got["error"]), "not all of this is shown here") {
		t.Errorf("%v", got)
	}
	a.do(200, a.api, "POST", "/api/v1/gate/"+someUUID, `{"approve":false}`)
}

// Sessions are listed without numbers while no worker gives any, and not at all if something else is wrong.
func TestSessionsAreListedWithoutNumbers(t *testing.T) {
	numbers := &numbering{}
	a := agentAPIOf(t, newMany(t), func(d *gateway.Deps) { d.Numbers = numbers })
	a.submit("api-c", "hi")
	numbers.err = service.Errorf(service.KindUnavailable, "no worker answers")
	for _, path := range []string{"/sessions", "/sessions?client_id=api-c"} {
		if got := a.do(200, a.shell, "GET", path, ""); at(got, "sessions.0.client_id") != "api-c" || at(got, "sessions.0.shorthand_id") != nil {
			t.Errorf("%v", got)
		}
	}
	numbers.err = errors.New("broken")
	a.do(500, a.shell, "GET", "/sessions", "")
}

func theOnly(t *testing.T, m *many) *script {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.scripts) != 1 {
		t.Fatalf("%d conversations", len(m.scripts))
	}
	for _, s := range m.scripts {
		return s
	}
	return nil
}
