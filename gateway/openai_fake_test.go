package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// completions is a client of OpenAI's API that keeps its chat.
type completions struct {
	*api
	messages []map[string]any
	headers  []string
}

// body returns the body of a request with the chat and other members.
func (c *completions) body(more string) string {
	raw, err := json.Marshal(c.messages)
	if err != nil {
		c.t.Fatal(err)
	}
	return `{"model":"helper","messages":` + string(raw) + more + `}`
}

func (c *completions) add(role, content string) {
	c.messages = append(c.messages, map[string]any{"role": role, "content": content})
}

// ask sends a message and keeps the answer.
func (c *completions) ask(text string, headers ...string) string {
	c.t.Helper()
	c.add("user", text)
	return c.post("", headers...)
}

func (c *completions) post(more string, headers ...string) string {
	c.t.Helper()
	r := c.want(200, c.do("POST", "/v1/chat/completions", c.body(more), append(headers, c.headers...)...))
	choices, _ := r.at("choices").([]any)
	message, _ := choices[0].(map[string]any)["message"].(map[string]any)
	c.messages = append(c.messages, message)
	content, _ := message["content"].(string)
	return content
}

// many is a backend in which every conversation has a script of its own.
type many struct {
	*fakeBackend
	t       *testing.T
	mu      sync.Mutex // guards scripts
	scripts map[string]*script
	// work is what the agents do.
	work func(*script) func(contract.MessageSignal)
}

func newMany(t *testing.T) *many {
	m := &many{t: t, scripts: map[string]*script{}, work: func(s *script) func(contract.MessageSignal) { return s.answer }}
	m.fakeBackend = &fakeBackend{
		StartFn: func(in service.StartInput) (service.StartResult, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			s := m.scripts[in.Conversation.ID]
			if s == nil {
				s = newScript()
				s.exists, s.view.ID, s.view.CreatedAt = false, in.Conversation.ID, time.Now()
				s.onMessage = m.work(s)
				m.scripts[in.Conversation.ID] = s
			}
			out, err := s.start(in)
			s.mu.Lock() // the agent may work already
			defer s.mu.Unlock()
			if out.Existed {
				out.Fingerprint = s.view.ContextID
			} else {
				s.view.ContextID = in.Fingerprint
			}
			return out, err
		},
		SignalFn: func(id, signal string, payload any) error { return m.of(id).signal(id, signal, payload) },
		ConversationFn: func(id, requestID string) (contract.ConversationView, error) {
			return m.of(id).read(id, requestID)
		},
		DecideFn: func(uuid string, in contract.DecideSignal) error { return m.by(uuid).decide(uuid, in) },
		SubjectFn: func(uuid string) (service.Subject, error) {
			if s := m.by(uuid); s.view.ID != "" {
				return service.Subject{ConversationID: s.view.ID}, nil
			}
			return service.Subject{}, service.NoApproval(uuid)
		},
		TreeFn: func(id string) (contract.TreeView, error) { return m.of(id).readTree(id) },
	}
	m.DecisionFn = func(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
		return m.by(uuid).decision(ctx, uuid)
	}
	m.AwaitFn = func(ctx context.Context, id string, ids []string) (contract.AwaitResult, error) {
		return m.of(id).await(ctx, id, ids)
	}
	return m
}

func (m *many) of(id string) *script {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.scripts[id]; s != nil {
		return s
	}
	s := newScript()
	s.exists = false
	return s
}

// by returns the script in which an approval waits, or was decided.
func (m *many) by(uuid string) *script {
	for _, s := range m.scripts {
		if _, done := s.decided[uuid]; done {
			return s
		}
		for _, p := range s.view.Pending {
			if p.UUID == uuid {
				return s
			}
		}
	}
	return &script{}
}

func (m *many) sent() (out []string) {
	for _, s := range m.scripts {
		out = append(out, kindsOf(s.sent)...)
	}
	return out
}

func chatting(t *testing.T, m *many, change ...func(*gateway.Deps)) *completions {
	return &completions{api: newAPI(t, m.fakeBackend, change...)}
}

// withApprovals has every message wait for an approval, and the decision end the turn.
func withApprovals(m *many) {
	m.work = func(s *script) func(contract.MessageSignal) {
		s.onDecide = func(uuid string, d contract.DecideSignal) {
			s.finish(contract.MessageSignal{RequestID: d.RequestID, Name: uuid}, fmt.Sprintf("approved: %t", d.Approved))
		}
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			s.wait(msg, contract.NameUUID(s.view.ID, fmt.Sprint("approval", len(s.sent))))
		}
	}
}

// withLongArguments is withApprovals with arguments that a description has in part.
func withLongArguments(m *many) {
	withApprovals(m)
	before := m.work
	m.work = func(s *script) func(contract.MessageSignal) {
		act := before(s)
		return func(msg contract.MessageSignal) {
			act(msg)
			s.view.Pending[0].ToolArgs.Raw = json.RawMessage(`{"name":"` + strings.Repeat("x", contract.InlineLimit) + `"}`)
		}
	}
}

var codeIn = regexp.MustCompile(`approve (\S+)`)

// onLoopback marks requests that come from this machine; see send.
const onLoopback = "Test-Remote: 127.0.0.1:1"
