package protocol_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
)

const (
	uriX = "https://example.com/ext/x/v1"
	uriY = "urn:y"
)

func TestTheHandlerKnowsTheCall(t *testing.T) {
	for _, tt := range []struct {
		method, params string
		header         []string
		dialect        protocol.Dialect
		extensions     []string
	}{
		{"SendMessage", hello10, nil, protocol.V10, nil},
		{"SendMessage", hello10, []string{"a2a-extensions", uriX + ", " + uriY, "A2A-Extensions", uriX}, protocol.V10, []string{uriX, uriY}},
		{"SendMessage", hello10, []string{"A2A-Version", "0.3"}, protocol.V10, nil},
		{"message/send", hello03, []string{"X-A2A-Extensions", uriX + ",,"}, protocol.V03, []string{uriX}},
		{"message/send", hello03, []string{"A2A-Version", "1.0"}, protocol.V03, nil},
		{"message/send", helloOld, nil, protocol.Old, nil},
	} {
		var call protocol.Call
		h := &fake{SendFn: func(ctx context.Context, _ *a2a.SendMessageRequest) (*a2a.Task, error) {
			call = protocol.CallOf(ctx)
			return task(a2a.TaskStateCompleted), nil
		}}
		got := post(t, h, rpc(tt.method, tt.params), tt.header...)
		if call.Dialect != tt.dialect || !slices.Equal(call.Extensions, tt.extensions) || call.Request == nil {
			t.Errorf("%s %v: got %+v", tt.method, tt.header, call)
		}
		if got.header.Get("A2A-Extensions") != "" {
			t.Errorf("%s: the Handler did not activate %v", tt.method, got.header)
		}
	}
}

func TestActivatedExtensionsAreNamed(t *testing.T) {
	activate := func(ctx context.Context) {
		call := protocol.CallOf(ctx)
		call.Activate(uriX)
		call.Activate(uriX)
		call.Activate(uriY)
	}
	h := &fake{
		SendFn: func(ctx context.Context, _ *a2a.SendMessageRequest) (*a2a.Task, error) {
			activate(ctx)
			return task(a2a.TaskStateCompleted), nil
		},
		SendStreamFn: func(ctx context.Context, _ *a2a.SendMessageRequest) iter.Seq2[protocol.Event, error] {
			return func(yield func(protocol.Event, error) bool) {
				activate(ctx)
				yield(protocol.Event{Event: task(a2a.TaskStateCompleted)}, nil)
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
	protocol.CallOf(context.Background()).Activate(uriX)
	ctx := protocol.WithCall(context.Background(), protocol.Call{Dialect: protocol.Old})
	protocol.CallOf(ctx).Activate(uriX)
	if protocol.CallOf(ctx).Dialect != protocol.Old {
		t.Error("the call is lost")
	}
}
