package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/number"
)

// clientOfMCPAgent is a client of its API and of its shell's.
type clientOfMCPAgent struct {
	t          *testing.T
	api, shell string
}

func (c clientOfMCPAgent) post(url, body string) {
	c.t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		c.t.Fatalf("%s: %s", url, r.Status)
	}
}

// sessions returns the session of a client_id: its number, and how long it is.
func (c clientOfMCPAgent) session(id string) (number, length int) {
	c.t.Helper()
	r, err := http.Get(c.api + "/api/v1/sessions?client_id=" + id)
	if err != nil {
		return 0, 0 // the agent is starting
	}
	defer r.Body.Close()
	var list struct {
		Sessions []struct {
			Number int `json:"shorthand_id"`
			Length int `json:"history_length"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil || len(list.Sessions) != 1 {
		return 0, 0
	}
	return list.Sessions[0].Number, list.Sessions[0].Length
}

// stream reads a stream up to an event, and returns its data and what was read before it.
func (c clientOfMCPAgent) stream(url, event string) (data string, before string) {
	c.t.Helper()
	r, err := http.Get(url)
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	var seen bytes.Buffer
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if lines.Text() == "event: "+event && lines.Scan() {
			return strings.TrimPrefix(lines.Text(), "data: "), seen.String()
		}
		seen.WriteString(lines.Text() + "\n")
	}
	c.t.Fatalf("no %s in %s", event, seen.String())
	return "", ""
}

// A client of MCP Agent's API asks, its gate is there after the process was killed, and the shell of
// another person's machine answers it. Nothing has run before.
func TestAGateOfMCPAgentsClientsSurvivesKillMinusNine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, shell := freePort(t), freePort(t)
	h.extra = fmt.Sprintf("clients: {api: {port: %d}, shell: {port: %d}}\n", api, shell)
	_, agent := h.outside()
	c := clientOfMCPAgent{t, fmt.Sprintf("http://127.0.0.1:%d", api), fmt.Sprintf("http://127.0.0.1:%d", shell)}
	c.post(c.api+"/api/v1/submit", `{"client_id":"api-0badcafe","text":"call note_add {\"name\":\"x\"}"}`)
	if data, before := c.stream(c.api+"/api/v1/stream/api-0badcafe", "gate"); !strings.Contains(data, `"tool_name":"note_add"`) || !strings.Contains(before, "[note_add ▶]") {
		t.Errorf("%s after %s", data, before)
	}
	if n, _ := c.session("api-0badcafe"); n != 101 {
		t.Errorf("the number is %d", n)
	}
	agent.kill()
	h.outside()
	eventually(t, "the session has its number again", func() bool { n, _ := c.session("101"); return n == 101 })
	data, _ := c.stream(c.shell+"/stream?client_id=api-0badcafe", "gate_request")
	var gate struct {
		ID string `json:"gate_id"`
	}
	if err := json.Unmarshal([]byte(data), &gate); err != nil {
		t.Fatal(err)
	}
	if n := len(h.tools.called("note_add")); n != 0 {
		t.Errorf("it has run %d times before the answer", n)
	}
	c.post(c.shell+"/gate_response", fmt.Sprintf(`{"gate_id":%q,"decision":"allow"}`, gate.ID))
	if _, text := c.stream(c.api+"/api/v1/stream/api-0badcafe", "done"); !strings.Contains(text, "[note_add ◀]") || !strings.Contains(text, "The tool said: added x") {
		t.Error(text)
	}
	c.post(c.api+"/api/v1/submit", `{"client_id":"101","text":"hello","wait":true}`)
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Errorf("it has run %d times", n)
	}
}

// TestRecordNumbers records the workflow that gives conversations their numbers, in two requests.
func TestRecordNumbers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	port := freePort(t)
	h.extra = fmt.Sprintf("clients: {api: {port: %d}}\n", port)
	_, p := h.inside()
	c := clientOfMCPAgent{t: t, api: fmt.Sprintf("http://127.0.0.1:%d", port)}
	for i, id := range []string{"api-00000001", "api-00000002"} {
		c.post(c.api+"/api/v1/submit", fmt.Sprintf(`{"client_id":%q,"text":"hello","wait":true}`, id))
		eventually(t, "the session has its number", func() bool { n, _ := c.session(id); return n == number.First+i })
	}
	keep(t, p.Client, "numbers", number.WorkflowID(h.queue, contract.Hash([]byte(""))[:16]))
}
