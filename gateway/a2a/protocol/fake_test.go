package protocol_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
)

// fake is a Handler. A method that a test does not set panics, which the client sees as an
// internal error.
type fake struct {
	SendFn         func(context.Context, *a2a.SendMessageRequest) (*a2a.Task, error)
	SendStreamFn   func(context.Context, *a2a.SendMessageRequest) iter.Seq2[protocol.Event, error]
	GetFn          func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error)
	ListFn         func(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error)
	CancelFn       func(context.Context, *a2a.CancelTaskRequest) (*a2a.Task, error)
	SubscribeFn    func(context.Context, *a2a.SubscribeToTaskRequest, string) iter.Seq2[protocol.Event, error]
	SetPushFn      func(context.Context, *a2a.PushConfig) (*a2a.PushConfig, error)
	GetPushFn      func(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error)
	ListPushFn     func(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error)
	DeletePushFn   func(context.Context, *a2a.DeleteTaskPushConfigRequest) error
	CardFn         func(context.Context) (*a2a.AgentCard, error)
	ExtendedCardFn func(context.Context) (*a2a.AgentCard, error)
}

func (f *fake) Send(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error) {
	return f.SendFn(ctx, req)
}

func (f *fake) SendStream(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[protocol.Event, error] {
	return f.SendStreamFn(ctx, req)
}

func (f *fake) Get(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	return f.GetFn(ctx, req)
}

func (f *fake) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return f.ListFn(ctx, req)
}

func (f *fake) Cancel(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return f.CancelFn(ctx, req)
}

func (f *fake) Subscribe(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[protocol.Event, error] {
	return f.SubscribeFn(ctx, req, after)
}

func (f *fake) SetPush(ctx context.Context, config *a2a.PushConfig) (*a2a.PushConfig, error) {
	return f.SetPushFn(ctx, config)
}

func (f *fake) GetPush(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return f.GetPushFn(ctx, req)
}

func (f *fake) ListPush(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return f.ListPushFn(ctx, req)
}

func (f *fake) DeletePush(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error {
	return f.DeletePushFn(ctx, req)
}

func (f *fake) Card(ctx context.Context) (*a2a.AgentCard, error) { return f.CardFn(ctx) }

func (f *fake) ExtendedCard(ctx context.Context) (*a2a.AgentCard, error) {
	return f.ExtendedCardFn(ctx)
}

// A time with a zone and without milliseconds, so that conversions show.
var noon = time.Date(2025, 10, 28, 12, 30, 0, 0, time.FixedZone("", 2*60*60))

const noonWritten = "2025-10-28T10:30:00.000Z"

func task(state a2a.TaskState) *a2a.Task {
	return &a2a.Task{ID: "t1", ContextID: "c1", Status: a2a.TaskStatus{State: state, Timestamp: &noon}}
}

// sends returns a Handler that answers every message with a task.
func sends(t *a2a.Task) *fake {
	return &fake{
		SendFn: func(context.Context, *a2a.SendMessageRequest) (*a2a.Task, error) { return t, nil },
		GetFn:  func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) { return t, nil },
	}
}

// silent is for tests that cause internal errors.
var silent = protocol.Options{Logger: slog.New(slog.DiscardHandler)}

// reply is an HTTP reply.
type reply struct {
	status int
	header http.Header
	body   string
	// The members of the JSON-RPC response.
	ID     any            `json:"id"`
	Result any            `json:"result"`
	Error  map[string]any `json:"error"`
}

func (r reply) code() int {
	code, _ := r.Error["code"].(float64)
	return int(code)
}

func (r reply) message() string {
	text, _ := r.Error["message"].(string)
	return text
}

// post sends a body to a server of h.
func post(t *testing.T, h protocol.Handler, body string, header ...string) reply {
	t.Helper()
	return postTo(t, protocol.New(h, silent), body, header...)
}

func postTo(t *testing.T, s *protocol.Server, body string, header ...string) reply {
	t.Helper()
	req := httptest.NewRequest("POST", "/a2a", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			req.Header.Del(header[i])
			continue
		}
		req.Header.Add(header[i], header[i+1])
		if header[i] == "Content-Type" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	return served(t, s, req)
}

func served(t *testing.T, s *protocol.Server, req *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	s.RPC(w, req)
	res := w.Result()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := reply{status: res.StatusCode, header: res.Header, body: string(data)}
	if res.Header.Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatalf("reply %q: %v", data, err)
		}
	}
	return out
}

// rpc returns a request with the id "1".
func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":` + params + `}`
}

// frame is a JSON-RPC response in a stream, with its SSE id.
type frame struct {
	id   string
	data map[string]any
}

func frames(t *testing.T, body string) []frame {
	t.Helper()
	var out []frame
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		var f frame
		for line := range strings.SplitSeq(block, "\n") {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				f.id = id
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(data), &f.data); err != nil {
					t.Fatalf("frame %q: %v", block, err)
				}
			}
		}
		if f.data != nil {
			out = append(out, f)
		}
	}
	return out
}

// stream yields events and then err, unless that is nil.
func stream(err error, events ...protocol.Event) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(protocol.Event{}, err)
		}
	}
}

// same compares values as JSON.
func same(t *testing.T, got any, want string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		t.Fatalf("want %s: %v", want, err)
	}
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(v)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}
