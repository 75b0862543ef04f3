package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestAGateWaitsForItsAnswer(t *testing.T) {
	for _, approve := range []bool{true, false} {
		m := newMany(t)
		withApprovals(m)
		a := agentAPIOf(t, m)
		a.submit("api-1234abcd", "drop all")
		s := a.stream(a.api, "/api/v1/stream/api-1234abcd")
		text, data := s.until("gate")
		var g map[string]any
		if err := json.Unmarshal([]byte(data), &g); err != nil {
			t.Fatal(err)
		}
		if g["tool_name"] != "drop" || at(g, "tool_args.name") != "all" || at(g, "tool_args.operation_type") != "write" || at(g, "arguments.operation_type") != nil ||
			g["tables"] == nil || text != "\n[drop ▶] executing…\n" || !strings.Contains(fmt.Sprint(g["url"]), ":8080/#/a/") {
			t.Errorf("%q %s", text, data)
		}
		a.do(409, a.api, "POST", "/api/v1/submit", `{"client_id":"api-1234abcd","text":"and then?"}`)
		a.do(409, a.shell, "POST", "/submit", `{"client_id":"api-1234abcd","text":"!new"}`)
		waited := a.do(200, a.api, "GET", "/api/v1/sessions", "")
		if at(waited, "sessions.0.shorthand_id") != 101.0 {
			t.Errorf("%v", waited)
		}
		path := fmt.Sprint("/api/v1/gate/", g["gate_id"])
		for _, port := range []struct {
			at         *httptest.Server
			path, body string
		}{
			{a.api, path, `{"approve":false,"approve":true}`},
			{a.shell, "/gate_response", fmt.Sprintf(`{"gate_id":%q,"decision":"reject","Decision":"allow"}`, g["gate_id"])},
		} {
			if got := a.do(400, port.at, "POST", port.path, port.body); !strings.Contains(fmt.Sprint(got["error"]), "is there twice") {
				t.Errorf("%v", got)
			}
		}
		for range 2 { // sent again, the answer is the same
			if got := a.do(200, a.api, "POST", path, fmt.Sprintf(`{"approve":%t}`, approve)); got["status"] != "ok" {
				t.Errorf("%v", got)
			}
		}
		if got := a.do(409, a.api, "POST", path, fmt.Sprintf(`{"approve":%t}`, !approve)); !strings.Contains(fmt.Sprint(got["error"]), "already") || len(got) != 1 {
			t.Errorf("%v", got)
		}
		want := fmt.Sprintf("approved: %t", approve)
		if !approve {
			want = "\n[REJECTED] add call was denied by user.\n" + want
		}
		if got, _ := s.until("done"); !strings.HasSuffix(got, fmt.Sprintf("approved: %t", approve)) || strings.Contains(got, "[REJECTED]") == approve {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is not shown whole is rejected there, and approved only where it is.
func TestAGateTakesNoYesToWhatItDoesNotShow(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	a := agentAPIOf(t, m)
	a.submit("api-1234abcd", "drop all")
	_, data := a.stream(a.api, "/api/v1/stream/api-1234abcd").until("gate")
	var g map[string]any
	if err := json.Unmarshal([]byte(data), &g); err != nil {
		t.Fatal(err)
	}
	uuid := fmt.Sprint(g["gate_id"])
	m.by(uuid).write(func(v *contract.ConversationView) { v.Pending[0].Explanation = contract.Inline("because") })
	path := "/api/v1/gate/" + uuid
	if got := a.do(400, a.api, "POST", path, `{"approve":true}`); !strings.Contains(fmt.Sprint(got["error"]), "not all of this is shown here") {
		t.Errorf("%v", got)
	}
	a.do(200, a.api, "POST", path, `{"approve":false}`)
}

// Nobody answers in time: the gate stays open, and the client gets what waits.
func TestAWaitingClientRejectsNothing(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	a := agentAPIOf(t, m)
	got := a.do(200, a.api, "POST", "/api/v1/submit", `{"client_id":"api-w","text":"drop all","wait":true,"timeout":0.05}`)
	if text := fmt.Sprint(got["text"]); got["status"] != "timeout" || !strings.Contains(text, "Drop?") || !strings.Contains(text, "/#/a/") {
		t.Errorf("%v", got)
	}
	for _, s := range m.scripts {
		if len(s.decided) != 0 || len(s.view.Pending) != 1 {
			t.Errorf("%v", s.decided)
		}
	}
}
