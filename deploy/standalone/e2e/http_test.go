package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// api is a client of a gateway.
type api struct {
	t    *testing.T
	base string
	http *http.Client
}

func newAPI(t *testing.T, base string) *api {
	return &api{t: t, base: base, http: &http.Client{Timeout: 2 * patience}}
}

// reply is a response with its decoded body.
type reply struct {
	Status int
	Header http.Header
	Raw    string
	Body   body
}

// body is the response body of the conversation routes.
type body struct {
	Error        string       `json:"error"`
	Conversation conversation `json:"conversation"`
	Result       result       `json:"result"`
	RequestID    string       `json:"request_id"`
	Decision     struct {
		Decision, By, Via string
	} `json:"decision"`
	Conversations []conversation `json:"conversations"`
	NextCursor    string         `json:"next_cursor"`
	Summary       struct {
		Total, Active, Completed int
		WaitingApproval          int `json:"waiting_approval"`
	} `json:"summary"`
}

type conversation struct {
	ID, Status       string
	SessionID        string `json:"session_id"`
	Messages         []message
	PendingApproval  *approval      `json:"pending_approval"`
	PendingApprovals []approval     `json:"pending_approvals"`
	PipelineState    *pipelineState `json:"pipeline_state"`
	Prompts          []struct {
		Source, Digest, Fallback, By string
		Version                      int
		Sections                     []struct{ Name, Digest string }
	}
	Version int64
	AsOf    time.Time `json:"as_of"`
}

type pipelineState struct {
	Path      []int             `json:"paused_node_path"`
	OutputKey string            `json:"paused_node_output_key"`
	State     map[string]string `json:"session_state"`
	Message   string            `json:"user_message"`
}

type message struct {
	ID, Role, Content, Node string
	ToolCall                *struct {
		Name      string
		Arguments json.RawMessage
		Result    string
		IsError   bool `json:"is_error"`
		Note      string
	} `json:"tool_call"`
}

type approval struct {
	UUID, Node  string
	ToolName    string          `json:"tool_name"`
	ToolArgs    json.RawMessage `json:"tool_args"`
	Description string
	ExpiresAt   *time.Time `json:"expires_at"`
	Origin      struct {
		Chain     []string
		Tool      string
		Arguments json.RawMessage
	}
}

type result struct {
	Response        string
	WaitingApproval bool `json:"waiting_approval"`
	Approval        *approval
	AuthRequired    bool `json:"auth_required"`
}

// do sends a request. Headers are "Name: value".
func (a *api) do(method, path, content string, headers ...string) reply {
	a.t.Helper()
	r, err := a.try(method, path, content, headers...)
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

func (a *api) try(method, path, content string, headers ...string) (reply, error) {
	r, err := a.raw(method, path, content, headers...)
	if err == nil && strings.HasPrefix(strings.TrimSpace(r.Raw), "{") {
		err = json.Unmarshal([]byte(r.Raw), &r.Body)
	}
	return r, err
}

// raw is like try, but does not decode the reply's body.
func (a *api) raw(method, path, content string, headers ...string) (reply, error) {
	req, err := http.NewRequest(method, a.base+path, strings.NewReader(content))
	if err != nil {
		return reply{}, err
	}
	if content != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := a.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{}, err
	}
	return reply{Status: res.StatusCode, Header: res.Header, Raw: string(data)}, nil
}

// want sends a request and requires its status.
func (a *api) want(status int, method, path, content string, headers ...string) body {
	a.t.Helper()
	r := a.do(method, path, content, headers...)
	if r.Status != status {
		a.t.Fatalf("%s %s: status %d, want %d: %s", method, path, r.Status, status, r.Raw)
	}
	return r.Body
}

// read decodes what the API answers.
func (a *api) read(path string, into any) {
	a.t.Helper()
	r := a.do("GET", path, "")
	if err := json.Unmarshal([]byte(r.Raw), into); err != nil || r.Status != 200 {
		a.t.Fatalf("GET %s: status %d, %v: %s", path, r.Status, err, r.Raw)
	}
}

// ask starts a conversation with a message.
func (a *api) ask(text string, headers ...string) body {
	a.t.Helper()
	return a.want(201, "POST", "/conversations", messageJSON(text), headers...)
}

// say sends a message to a conversation.
func (a *api) say(id, text string, headers ...string) body {
	a.t.Helper()
	return a.want(200, "POST", "/conversations/"+id+"/messages", messageJSON(text), headers...)
}

func (a *api) decide(uuid, content string, headers ...string) body {
	a.t.Helper()
	return a.want(200, "POST", "/approvals/"+uuid, content, headers...)
}

func (a *api) conversation(id string) conversation {
	a.t.Helper()
	return a.want(200, "GET", "/conversations/"+id+"?include=messages", "").Conversation
}

// eventually tries until f succeeds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func messageJSON(text string) string {
	data, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		panic(err)
	}
	return string(data)
}
