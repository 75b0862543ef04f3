package tasks_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/tasks"
)

const (
	uriX = "https://example.com/ext/x/v1"
	uriY = "urn:y"
)

func TestTheHandlerKnowsTheCall(t *testing.T) {
	for _, tt := range []struct {
		method, params string
		header         []string
		dialect        tasks.Dialect
		extensions     []string
	}{
		{"SendMessage", hello10, nil, tasks.V10, nil},
		{"SendMessage", hello10, []string{"a2a-extensions", uriX + ", " + uriY, "A2A-Extensions", uriX}, tasks.V10, []string{uriX, uriY}},
		{"SendMessage", hello10, []string{"A2A-Version", "0.3"}, tasks.V10, nil},
		{"message/send", hello03, []string{"X-A2A-Extensions", uriX + ",,"}, tasks.V03, []string{uriX}},
		{"message/send", hello03, []string{"A2A-Version", "1.0"}, tasks.V03, nil},
		{"message/send", helloOld, nil, tasks.Old, nil},
	} {
		var call tasks.Call
		h := &fake{SendFn: func(ctx context.Context, _ *a2a.SendMessageRequest) (*a2a.Task, error) {
			call = tasks.CallOf(ctx)
			return task(a2a.TaskStateCompleted), nil
		}}
		got := post(t, h, rpc(tt.method, tt.params), tt.header...)
		if call.Dialect != tt.dialect || !slices.Equal(call.Extensions, tt.extensions) || call.Request == nil {
			t.Errorf("%s %v: got %+v", tt.method, tt.header, call)
		}
		if got.header.Get("A2A-Extensions") != "" {
			t.Errorf("%s: nobody activated %v", tt.method, got.header)
		}
	}
}

func TestActivatedExtensionsAreNamed(t *testing.T) {
	activate := func(ctx context.Context) {
		call := tasks.CallOf(ctx)
		call.Activate(uriX)
		call.Activate(uriX)
		call.Activate(uriY)
	}
	h := &fake{
		SendFn: func(ctx context.Context, _ *a2a.SendMessageRequest) (*a2a.Task, error) {
			activate(ctx)
			return task(a2a.TaskStateCompleted), nil
		},
		SendStreamFn: func(ctx context.Context, _ *a2a.SendMessageRequest) iter.Seq2[tasks.Event, error] {
			return func(yield func(tasks.Event, error) bool) {
				activate(ctx)
				yield(tasks.Event{Event: task(a2a.TaskStateCompleted)}, nil)
			}
		},
	}
	for _, tt := range []struct{ method, params, header, old string }{
		{"SendMessage", hello10, "A2A-Extensions", ""},
		{"SendStreamingMessage", hello10, "A2A-Extensions", ""},
		{"message/send", hello03, "X-A2A-Extensions", uriX + ", " + uriY},
	} {
		got := post(t, h, rpc(tt.method, tt.params), tt.header, uriX)
		if got.header.Get("A2A-Extensions") != uriX+", "+uriY || got.header.Get("X-A2A-Extensions") != tt.old {
			t.Errorf("%s: got %v", tt.method, got.header)
		}
	}
}

func TestAHandlerWorksWithoutAServer(t *testing.T) {
	tasks.CallOf(context.Background()).Activate(uriX)
	ctx := tasks.WithCall(context.Background(), tasks.Call{Dialect: tasks.Old})
	tasks.CallOf(ctx).Activate(uriX)
	if tasks.CallOf(ctx).Dialect != tasks.Old {
		t.Error("the call is lost")
	}
}
