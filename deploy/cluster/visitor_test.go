//go:build cluster

package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// visitor is a user with one conversation. It sends a message, answers the approvals that it
// leads to, and sends the next one.
type visitor struct {
	*chaos
	r        *rand.Rand
	url      string
	client   *http.Client
	name     string
	id       string // of the conversation
	messages []*message
	attempts int // requests that got no answer, or one of a server that cannot serve now
	missing  int // answers that there is no such conversation
	decided  map[string]bool
}

// message is a message of a user, and what came of it.
type message struct {
	name, text string
	write      bool // whether it leads to a destructive call, which has the name as its argument
	accepted   bool // the API said so
	lost       bool // the only attempt had no answer, so it may have been accepted
	grants     int  // calls that were allowed: one by an approval, one by each repetition
	doubt      bool // its outcome was reported as unknown
	no         bool // it was rejected
	longest    wait
}

// wait is how long a user waited, and what for.
type wait struct {
	time time.Duration
	what string
}

// transcript is the part of a conversation that the test reads.
type transcript struct {
	ID, Status       string
	AsOf             time.Time `json:"as_of"`
	Problem          string
	Messages         []said
	PendingApprovals []struct{ UUID, Description string } `json:"pending_approvals"`
}

// said is an entry of a transcript.
type said struct {
	Role, Content string
	ToolCall      *json.RawMessage `json:"tool_call"`
}

// visit holds one conversation of up to four messages.
func (c *chaos) visit(r *rand.Rand, name string) {
	v := &visitor{chaos: c, r: r, url: c.url, client: &http.Client{Timeout: patience}, name: name, decided: map[string]bool{}}
	if r.IntN(3) == 0 {
		v.url = c.web
	}
	for i := range 1 + r.IntN(4) {
		m := v.draw(fmt.Sprintf("%s-%d", name, i))
		if !v.send(m) || !v.attend(m) || !time.Now().Before(c.end) {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.visitors = append(c.visitors, v)
}

// draw draws what a message asks for.
func (v *visitor) draw(name string) *message {
	m := &message{name: name}
	switch v.r.IntN(10) {
	case 0, 1, 2:
		m.text = "call resources_list pattern=" + name
	case 3, 4, 5:
		m.text, m.write = fmt.Sprintf(`call strike {"name":%q}`, name), true
	case 6, 7:
		m.text, m.write = fmt.Sprintf("add a resource named %s with value 42", name), true
	case 8:
		m.text, m.write = fmt.Sprintf(`ask c: call strike {"name":%q}`, name), true
	default:
		m.text = "ask b: call grep root=files pattern=" + name
	}
	return m
}

// send sends a message until it is accepted, or once, and reports whether it may have been
// accepted.
func (v *visitor) send(m *message) bool {
	path, first := "/conversations", v.id == ""
	if !first {
		path += "/" + v.id + "/messages"
	}
	v.messages = append(v.messages, m)
	headers := map[string]string{"Idempotency-Key": m.name}
	if v.r.IntN(2) == 0 {
		headers["Prefer"] = "respond-async"
	}
	once := !first && v.r.IntN(8) == 0
	if once {
		delete(headers, "Idempotency-Key")
	}
	began := time.Now()
	for time.Since(began) < patience {
		status, body, err := v.do("POST", path, map[string]any{"message": m.text}, headers)
		switch {
		case err == nil && status < 300:
			m.accepted = true
			if first {
				v.id = idOf(body)
			}
			m.waited(began, "until it was accepted")
			return true
		case err == nil && status < 500 && status != http.StatusTooManyRequests:
			v.t.Errorf("%s: %q: %d %.500s", v.name, m.text, status, body)
			return false
		case once:
			m.lost = true
			return v.arrived(m)
		}
		v.attempts++
		time.Sleep(200 * time.Millisecond)
	}
	v.t.Errorf("%s: %q was not accepted for %v", v.name, m.text, patience)
	return false
}

// arrived reports whether a message whose request had no answer is in the conversation. A read that
// fails, such as of a gateway that was killed, says nothing.
func (v *visitor) arrived(m *message) bool {
	reads := 0
	for began := time.Now(); reads < 10 && time.Since(began) < patience && !v.gone(); time.Sleep(300 * time.Millisecond) {
		c, ok := v.read()
		switch {
		case ok && c.times(m.text) > 0:
			return true
		case ok:
			reads++
		}
	}
	return false
}

func TestAMessageIsLookedForAlthoughReadsFail(t *testing.T) {
	reads := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if reads++; reads <= 11 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"conversation":{"id":"c","messages":[{"role":"user","content":"hello"}]}}`)
	}))
	defer s.Close()
	v := &visitor{chaos: &chaos{chain: &chain{t: t}}, url: s.URL, client: s.Client(), id: "c"}
	if !v.arrived(&message{text: "hello"}) {
		t.Error("reads that fail count as reads without the message")
	}
}

// attend waits until a message is answered, and answers approvals meanwhile. It reports whether
// there was an answer.
func (v *visitor) attend(m *message) bool {
	for since := time.Now(); time.Since(since) < patience && !v.gone(); time.Sleep(100 * time.Millisecond) {
		c, ok := v.read()
		switch {
		case !ok:
		case len(c.PendingApprovals) > 0 && v.decided[c.PendingApprovals[0].UUID]: // not yet known
		case len(c.PendingApprovals) > 0:
			m.waited(since, "until there was an approval")
			v.decide(m, c.PendingApprovals[0].UUID, c.PendingApprovals[0].Description)
			since = time.Now()
		case c.answered(m.text):
			m.waited(since, "for the answer, or for what came of an approval")
			return true
		}
	}
	c, _ := v.read()
	v.t.Errorf("%s (%s): %q has no answer, and %d times there was no such conversation: %s", v.name, v.id, m.text, v.missing, c)
	return false
}

// waited notes a wait.
func (m *message) waited(since time.Time, what string) {
	if w := time.Since(since); w > m.longest.time {
		m.longest = wait{w, what + ": " + m.text}
	}
}

// decide answers an approval, and counts the decision that is on record.
func (v *visitor) decide(m *message, uuid, description string) {
	v.decided[uuid] = true
	answer := map[string]any{"approved": v.r.IntN(5) > 0, "by": v.name}
	again := strings.Contains(description, "NOT REACHED") || strings.Contains(description, "ASKED AGAIN")
	unknown := strings.Contains(description, "OUTCOME UNKNOWN")
	switch {
	case unknown && v.ran(m) > 0:
		answer = map[string]any{"answer": "ran"}
	case unknown, again:
		answer["approved"] = true
	}
	m.doubt = m.doubt || unknown
	v.until(func() bool {
		status, _, err := v.do("POST", "/approvals/"+uuid, answer, map[string]string{"Prefer": "respond-async"})
		return err == nil && status < 500 && status != http.StatusTooManyRequests
	})
	switch decision := v.recorded(uuid); {
	case decision == "rejected":
		m.no = true
	case decision == "approved" && !again && answer["answer"] == nil:
		m.grants++
	}
}

// recorded returns the decision of an approval.
func (v *visitor) recorded(uuid string) (decision string) {
	v.until(func() bool {
		status, body, err := v.do("GET", "/approvals/"+uuid, nil, nil)
		var out struct{ Decision struct{ Decision string } }
		if err != nil || status != http.StatusOK || json.Unmarshal(body, &out) != nil {
			return false
		}
		decision = out.Decision.Decision
		return decision != ""
	})
	return decision
}

// until repeats a request until it succeeds, or the user gives up.
func (v *visitor) until(succeeds func() bool) {
	for began := time.Now(); time.Since(began) < patience && !v.gone(); time.Sleep(200 * time.Millisecond) {
		if succeeds() {
			return
		}
		v.attempts++
	}
}

// ran returns how often the call of a message ran up to now.
func (v *visitor) ran(m *message) int { return v.journal.of(m.name) + v.rows()[m.name] }

// gone reports whether the conversation is not there any more.
func (v *visitor) gone() bool { return v.missing > 20 }

// read returns the conversation as its workflow knows it now.
func (v *visitor) read() (transcript, bool) {
	status, body, err := v.do("GET", "/conversations/"+v.id+"?include=messages", nil, nil)
	if err == nil && status == http.StatusNotFound {
		v.missing++
	}
	var out struct{ Conversation transcript }
	if err != nil || status != http.StatusOK || json.Unmarshal(body, &out) != nil {
		v.attempts++
		return transcript{}, false
	}
	c := out.Conversation
	return c, c.ID == v.id && c.AsOf.IsZero() && c.Problem == ""
}

func (v *visitor) do(method, path string, body any, headers map[string]string) (int, []byte, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		content = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, content)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// idOf is the conversation that an answer names.
func idOf(body []byte) string {
	var out struct {
		ConversationID string `json:"conversation_id"`
		Conversation   struct{ ID string }
	}
	_ = json.Unmarshal(body, &out) // without an ID nothing else works
	if out.Conversation.ID != "" {
		return out.Conversation.ID
	}
	return out.ConversationID
}

// times counts how often users said a text.
func (c transcript) times(text string) (n int) {
	for _, s := range c.Messages {
		if s.Role == "user" && s.Content == text {
			n++
		}
	}
	return n
}

// answered reports whether a message has its answer.
func (c transcript) answered(text string) bool { return len(c.answers(text)) > 0 }

// interim reports whether a text of the agent is none that ends a turn: what demo:rules says of
// itself before its first call, or the question whether to make a call.
func interim(text string) bool {
	return strings.HasPrefix(text, "demo:rules is an offline stand-in") || strings.Contains(text, "approval UUID: ")
}

// answers are the answers to a message: the texts before the next message with which turns end.
func (c transcript) answers(text string) (out []string) {
	mine := false
	for _, s := range c.Messages {
		switch {
		case s.Role == "user" && !strings.HasPrefix(s.Content, "[APPROVAL]"):
			mine = s.Content == text
		case mine && s.Role == "assistant" && s.ToolCall == nil && s.Content != "" && !interim(s.Content):
			out = append(out, s.Content)
		}
	}
	return out
}
