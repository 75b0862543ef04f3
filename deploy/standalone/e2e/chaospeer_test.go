package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// forgetter is an A2A agent that does not recognize repeated messages, forgets tasks, gives
// arbitrary responses, and requests its own approvals. It speaks one dialect: 1.0, 0.3, or the
// old one.
type forgetter struct {
	deeds
	*httptest.Server
	dice    *dice
	dialect string

	mu    sync.Mutex
	n     int
	tasks map[string]*strikeTask
}

// strikeTask is a task of a forgetter.
type strikeTask struct {
	id, name, state, text string
	asks                  bool
	ready                 time.Time // when a working task is done
	told                  []string  // messages that answered its question
}

func newForgetter(t *testing.T, d *dice) *forgetter {
	f := &forgetter{dice: d, dialect: []string{"1.0", "0.3", "old"}[d.roll(3)], tasks: map[string]*strikeTask{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

type peerCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ID      string `json:"id"`
		TaskID  string `json:"taskId"`
		Message struct {
			TaskID string `json:"taskId"`
			Parts  []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"message"`
	} `json:"params"`
}

func (p peerCall) task() string { return p.Params.ID + p.Params.TaskID + p.Params.Message.TaskID }

func (f *forgetter) serve(w http.ResponseWriter, r *http.Request) {
	secrets := secretsOf(r)
	if r.Method != http.MethodPost {
		f.card(w, r, secrets)
		return
	}
	var in peerCall
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch in.Method {
	case "SendMessage", "message/send":
		f.message(w, in, secrets)
	case "GetTask", "tasks/get":
		f.look(w, in, secrets)
	case "CancelTask", "tasks/cancel":
		f.cancel(w, in)
	default:
		refuseRPC(w, in.ID, -32601, "no such method "+secrets)
	}
}

func refuseRPC(w http.ResponseWriter, id json.RawMessage, code int, why string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
}

func (f *forgetter) card(w http.ResponseWriter, r *http.Request, secrets string) {
	if f.dice.trouble(6) {
		lies[f.dice.roll(len(lies))].tell(w, json.RawMessage("1"), secrets, func() {})
		return
	}
	card := map[string]any{"name": "far", "description": secrets, "url": "/a2a", "skills": []any{map[string]any{"id": "s", "name": "strike", "description": secrets}}}
	switch f.dialect {
	case "1.0":
		card["supportedInterfaces"] = []any{map[string]any{"url": "/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}
	case "0.3":
		card["protocolVersion"] = "0.3.0"
	}
	_ = json.NewEncoder(w).Encode(card)
}

// message starts a task, or answers its question.
func (f *forgetter) message(w http.ResponseWriter, in peerCall, secrets string) {
	text := ""
	for _, part := range in.Params.Message.Parts {
		text += part.Text
	}
	t, begins := f.taskFor(in.task(), text)
	var act func()
	switch {
	case t == nil:
		refuseRPC(w, in.ID, -32001, "no such task")
		return
	case begins && f.dice.roll(2) == 0:
		t.asks = true
		act = func() { f.put(t, "input-required", "May I strike "+t.name+"?") }
	case begins:
		act = func() { f.strike(t) }
	default:
		act = func() { f.hear(t, text) }
	}
	f.note("%s %q to %s for %s ", in.Method, text, t.id, t.name)
	if f.dice.trouble(2) {
		done, lie := act, lies[f.dice.roll(len(lies))]
		f.note("answered with %+v for %s ", lie, t.name)
		lie.tell(w, in.ID, secrets, func() {
			if f.dice.roll(2) == 0 {
				done()
			}
		})
		return
	}
	act()
	f.show(w, in, t, secrets)
}

// hear handles an answer: it strikes if that was approved.
func (f *forgetter) hear(t *strikeTask, text string) {
	word := strings.ToLower(text)
	f.mu.Lock()
	waits := t.state == "input-required"
	t.told = append(t.told, word)
	f.mu.Unlock()
	switch {
	case strings.Contains(word, "approved") || strings.Contains(word, "yes"):
		f.strike(t)
	case waits:
		f.put(t, "rejected", "I did not strike "+t.name)
	}
}

// strike executes the call. Sometimes the task is reported as done only later.
func (f *forgetter) strike(t *strikeTask) {
	f.add(t.name)
	f.note("struck in %s for %s ", t.id, t.name)
	f.put(t, "completed", "struck "+t.name)
	if f.dice.roll(3) == 0 {
		f.mu.Lock()
		t.ready = time.Now().Add(400 * time.Millisecond)
		f.mu.Unlock()
	}
}

func (f *forgetter) put(t *strikeTask, state, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.state, t.text = state, text
}

// taskFor returns the task of a message: a new one, or nil if it was forgotten.
func (f *forgetter) taskFor(id, text string) (t *strikeTask, begins bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != "" {
		return f.tasks[id], false
	}
	f.n++
	t = &strikeTask{id: fmt.Sprint("task-", f.n), name: text, state: "working"}
	f.tasks[t.id] = t
	return t, true
}

func (f *forgetter) look(w http.ResponseWriter, in peerCall, secrets string) {
	if f.dice.trouble(8) {
		lies[f.dice.roll(len(lies))].tell(w, in.ID, secrets, func() {})
		return
	}
	f.mu.Lock()
	t := f.tasks[in.task()]
	if f.dice.trouble(25) {
		delete(f.tasks, in.task())
		t = nil
	}
	f.mu.Unlock()
	if t == nil {
		refuseRPC(w, in.ID, -32001, "no such task")
		return
	}
	f.show(w, in, t, secrets)
}

func (f *forgetter) cancel(w http.ResponseWriter, in peerCall) {
	f.mu.Lock()
	t := f.tasks[in.task()]
	f.mu.Unlock()
	if t == nil {
		refuseRPC(w, in.ID, -32001, "no such task")
		return
	}
	f.mu.Lock()
	if t.state == "input-required" || t.state == "working" {
		t.state, t.text = "canceled", "cancelled"
	}
	f.mu.Unlock()
	f.show(w, in, t, "")
}

// show responds with a task, or sometimes with a message if the task is done.
func (f *forgetter) show(w http.ResponseWriter, in peerCall, t *strikeTask, secrets string) {
	f.mu.Lock()
	state, text, working := t.state, t.text+" "+secrets, time.Now().Before(t.ready)
	f.mu.Unlock()
	if working {
		state, text = "working", "at work "+secrets
	}
	role, word := "agent", state
	if f.dialect == "1.0" {
		role, word = "ROLE_AGENT", "TASK_STATE_"+strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
	}
	parts := []any{map[string]any{"kind": "text", "type": "text", "text": text}}
	if state == "input-required" && t.asks {
		parts = append(parts, map[string]any{"kind": "data", "data": map[string]any{
			"type": contract.TypeApprovalRequest, "uuid": "ask-" + t.id, "tool": "strike", "arguments": map[string]any{"name": t.name, "why": secrets},
			"description": "Strike? " + secrets, "reason": "destructive",
		}})
	}
	said := map[string]any{"messageId": "m-" + t.id, "role": role, "kind": "message", "parts": parts}
	task := map[string]any{"id": t.id, "contextId": "c-" + t.id, "kind": "task", "status": map[string]any{"state": word, "message": said}}
	if state == "completed" {
		task["artifacts"] = []any{map[string]any{"artifactId": "a", "parts": parts}}
		task["artifact"] = map[string]any{"artifactId": "a", "parts": parts}
	}
	var result any = task
	if f.dialect == "1.0" && in.Method == "SendMessage" {
		result = map[string]any{"task": task}
	}
	answerRPC(w, in.ID, result)
}
