package protocol_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
)

func failing(err error) *fake {
	return &fake{
		GetFn:  func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) { return nil, err },
		SendFn: func(context.Context, *a2a.SendMessageRequest) (*a2a.Task, error) { return nil, err },
	}
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	for _, tt := range []struct {
		err    error
		code   int
		reason string
		status int
	}{
		{a2a.ErrTaskNotFound, -32001, "TASK_NOT_FOUND", 200},
		{a2a.ErrTaskNotCancelable, -32002, "TASK_NOT_CANCELABLE", 200},
		{a2a.ErrPushNotificationNotSupported, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", 200},
		{a2a.ErrUnsupportedOperation, -32004, "UNSUPPORTED_OPERATION", 200},
		{a2a.ErrUnsupportedContentType, -32005, "CONTENT_TYPE_NOT_SUPPORTED", 200},
		{a2a.ErrInvalidAgentResponse, -32006, "INVALID_AGENT_RESPONSE", 200},
		{a2a.ErrExtendedCardNotConfigured, -32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", 200},
		{a2a.ErrExtensionSupportRequired, -32008, "EXTENSION_SUPPORT_REQUIRED", 200},
		{a2a.ErrVersionNotSupported, -32009, "VERSION_NOT_SUPPORTED", 200},
		{a2a.ErrInvalidParams, -32602, "INVALID_PARAMS", 200},
		{a2a.ErrInvalidRequest, -32600, "INVALID_REQUEST", 200},
		{a2a.ErrMethodNotFound, -32601, "METHOD_NOT_FOUND", 200},
		{a2a.ErrParseError, -32700, "PARSE_ERROR", 200},
		{a2a.ErrUnauthenticated, -31401, "UNAUTHENTICATED", 401},
		{a2a.ErrUnauthorized, -31403, "UNAUTHORIZED", 403},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			h := failing(fmt.Errorf("%w: look closer", tt.err))
			got := post(t, h, rpc("GetTask", `{"id":"t"}`))
			if got.code() != tt.code || got.status != tt.status || got.ID != "1" {
				t.Errorf("got %d %s", got.status, got.body)
			}
			if want := tt.err.Error() + ": look closer"; got.message() != want {
				t.Errorf("got %q, want %q", got.message(), want)
			}
			reason(t, got, tt.reason)
			for k := range got.Error {
				if k != "code" && k != "message" && k != "data" {
					t.Errorf("key %q in an error", k)
				}
			}
			if got := post(t, h, rpc("tasks/get", `{"id":"t"}`)); got.code() != tt.code || got.Error["data"] != nil {
				t.Errorf("0.3 got %s", got.body)
			}
		})
	}
}

func TestA401SaysHowToAuthenticate(t *testing.T) {
	got := post(t, failing(a2a.ErrUnauthenticated), rpc("GetTask", `{"id":"t"}`))
	if got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("got %v", got.header)
	}
}

func TestAnErrorWithDetails(t *testing.T) {
	err := a2a.NewError(a2a.ErrUnsupportedOperation, "not now").
		WithErrorInfoMeta(map[string]string{"state": "completed"}).
		WithDetails(map[string]any{"hint": "start a new task"})
	want := `[{"@type":"type.googleapis.com/google.protobuf.Struct","hint":"start a new task"},
		{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","reason":"UNSUPPORTED_OPERATION","metadata":{"state":"completed"}}]`
	for _, method := range []string{"GetTask", "tasks/get"} {
		got := post(t, failing(fmt.Errorf("hidden: %w", err)), rpc(method, `{"id":"t"}`))
		if got.message() != "not now" {
			t.Errorf("got %q", got.message())
		}
		same(t, got.Error["data"], want)
	}
}

// logged returns a server and its log.
func logged(h protocol.Handler) (*protocol.Server, *bytes.Buffer) {
	var b bytes.Buffer
	return protocol.New(h, protocol.Options{Logger: slog.New(slog.NewTextHandler(&b, nil))}), &b
}

func TestAnInternalErrorIsHiddenAndLogged(t *testing.T) {
	for name, err := range map[string]error{
		"unknown":     errors.New("secret: the database is on fire"),
		"sentinel":    fmt.Errorf("secret: the database is on fire: %w", a2a.ErrInternalError),
		"out of time": fmt.Errorf("secret: the database is on fire: %w", context.DeadlineExceeded),
	} {
		t.Run(name, func(t *testing.T) {
			s, log := logged(failing(err))
			got := postTo(t, s, rpc("GetTask", `{"id":"t"}`))
			if got.status != 200 || got.code() != -32603 || got.message() != "Internal error" || strings.Contains(got.body, "secret") {
				t.Errorf("got %d %s", got.status, got.body)
			}
			if !strings.Contains(log.String(), "on fire") || !strings.Contains(log.String(), "method=GetTask") {
				t.Errorf("logged %s", log)
			}
		})
	}
}

func TestAnErrorOfTheClientIsNotLogged(t *testing.T) {
	s, log := logged(failing(a2a.ErrTaskNotFound))
	postTo(t, s, rpc("GetTask", `{"id":"t"}`))
	postTo(t, s, `{`)
	if log.Len() > 0 {
		t.Errorf("logged %s", log)
	}
}

func TestAPanicIsAnErrorWithItsStackInTheLog(t *testing.T) {
	for _, value := range []any{"secret boom", fmt.Errorf("secret boom: %w", a2a.ErrTaskNotFound), map[string]any{"secret boom": 1}} {
		s, log := logged(&fake{GetFn: func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) { panic(value) }})
		got := postTo(t, s, rpc("GetTask", `{"id":"t"}`))
		if got.code() != -32603 || got.ID != "1" || strings.Contains(got.body, "secret") {
			t.Errorf("got %s", got.body)
		}
		if !strings.Contains(log.String(), "boom") || !strings.Contains(log.String(), "errors_test.go") {
			t.Errorf("logged %s", log)
		}
	}
}

func TestAHandlerWithoutATaskIsAnInternalError(t *testing.T) {
	for _, method := range []string{"GetTask", "tasks/get"} {
		if got := post(t, sends(nil), rpc(method, `{"id":"t"}`)); got.code() != -32603 {
			t.Errorf("got %s", got.body)
		}
	}
}

func TestAClientThatIsGoneGetsNoAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, log := logged(failing(context.Canceled))
	req := httptest.NewRequestWithContext(ctx, "POST", "/a2a", strings.NewReader(rpc("GetTask", `{"id":"t"}`)))
	req.Header.Set("Content-Type", "application/json")
	if got := served(t, s, req); got.body != "" || log.Len() > 0 {
		t.Errorf("got %q, logged %s", got.body, log)
	}
}

func TestExtendedCards(t *testing.T) {
	card := protocol.Card(protocol.CardInput{Name: "public", PublicURL: "https://example.com"})
	announced := protocol.Card(protocol.CardInput{Name: "extended", PublicURL: "https://example.com", Extended: true})
	for _, tt := range []struct {
		name, method string
		public       *a2a.AgentCard
		err          error
		code         int
	}{
		{"1.0, never announced", "GetExtendedAgentCard", card, a2a.ErrExtendedCardNotConfigured, -32004},
		{"1.0, announced and missing", "GetExtendedAgentCard", announced, a2a.ErrExtendedCardNotConfigured, -32007},
		{"1.0, not for everybody", "GetExtendedAgentCard", announced, a2a.ErrUnauthenticated, -31401},
		{"1.0", "GetExtendedAgentCard", announced, nil, 0},
		{"0.3, never announced", "agent/getAuthenticatedExtendedCard", card, a2a.ErrExtendedCardNotConfigured, -32007},
		{"0.3", "agent/getAuthenticatedExtendedCard", announced, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &fake{
				CardFn:         func(context.Context) (*a2a.AgentCard, error) { return tt.public, nil },
				ExtendedCardFn: func(context.Context) (*a2a.AgentCard, error) { return announced, tt.err },
			}
			got := post(t, h, `{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`"}`)
			if got.code() != tt.code {
				t.Fatalf("got %s", got.body)
			}
			if tt.code == 0 && !strings.Contains(got.body, `"name":"extended"`) {
				t.Errorf("got %s", got.body)
			}
			if of03 := strings.Contains(got.body, `"preferredTransport"`); tt.code == 0 && of03 != (tt.name == "0.3") {
				t.Errorf("members of 0.3 %t: %s", of03, got.body)
			}
		})
	}
}
