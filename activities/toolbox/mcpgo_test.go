package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities/toolbox"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestWhatTakesThePlaceOfAnAnswer(t *testing.T) {
	resp := transport.NewJSONRPCResultResponse(mcp.NewRequestId(int64(7)), json.RawMessage(`{"content":[{"type":"new"}],"x":1}`))
	for want, got := range map[string]any{
		`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`:                                                                    toolbox.Undecoded(resp),
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"enough pages"}}`:                                           toolbox.EndOfPages(resp, errors.New("enough pages")),
		`{"method":"notifications/cancelled","params":{"reason":"the caller no longer waits","requestId":7},"jsonrpc":"2.0"}`: toolbox.Cancellation(resp.ID),
	} {
		text, err := json.Marshal(got)
		var gotten, wanted any
		if err = errors.Join(err, json.Unmarshal(text, &gotten), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(wanted, gotten); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := mcp.ParseCallToolResult(&toolbox.Undecoded(resp).Result); err != nil {
		t.Errorf("mcp-go takes it for no result: %v", err)
	}
}

func TestOnlyTheDELETEIsSigned(t *testing.T) {
	caller := map[string]string{"Authorization": "Bearer t"}
	for method, want := range map[string]string{"DELETE": "Bearer t", "POST": "", "GET": ""} {
		req := httptest.NewRequest(method, "/", nil)
		if got := toolbox.SignDelete(req, caller).Header.Get("Authorization"); got != want {
			t.Errorf("%s: %q", method, got)
		}
		if len(req.Header) != 0 {
			t.Errorf("%s: the request itself was changed: %v", method, req.Header)
		}
	}
}

func TestAContextWithoutDeadlineEndsWithTheCallAndTheStream(t *testing.T) {
	for _, ending := range []string{"call", "stream", "nothing"} {
		call, endCall := context.WithTimeout(t.Context(), time.Hour)
		stream, endStream := context.WithCancel(t.Context())
		ctx, done := toolbox.WithoutDeadline(call, stream)
		if _, ok := ctx.Deadline(); ok || ctx.Err() != nil {
			t.Errorf("deadline %v, %v", ok, ctx.Err())
		}
		posted := toolbox.OfCall(httptest.NewRequest("POST", "/", nil).WithContext(ctx))
		if _, ok := posted.Context().Deadline(); !ok {
			t.Error("what is posted has no deadline")
		}
		map[string]func(){"call": endCall, "stream": endStream, "nothing": done}[ending]()
		within(t, ending, ctx.Done())
		if posted.Context().Err() != nil && ending != "call" {
			t.Errorf("%s ended what is posted", ending)
		}
		done()
		endStream()
		endCall()
	}
	if req := httptest.NewRequest("POST", "/", http.NoBody); toolbox.OfCall(req) != req {
		t.Error("another request was changed")
	}
}

func TestRequestsOfAServerAreFound(t *testing.T) {
	for data, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                     "ping",
		`{"jsonrpc":"2.0","id":"a","method":"roots/list","params":{}}`: "roots/list",
		`{"jsonrpc":"2.0","method":"notifications/message"}`:           "",
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                  "",
		`{"jsonrpc":"2.0","id":1,"result":{"method":"ping"}}`:          "",
		`/message?"method"`: "",
		``:                  "",
	} {
		if req, ok := toolbox.RequestIn([]byte(data)); ok != (want != "") || ok && req.Method != want {
			t.Errorf("%s: %v %q", data, ok, req.Method)
		}
	}
}

func TestErrorsWithoutAnIDAreFound(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`: "Parse error",
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`:           "Parse error",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"Parse error"}}`:    "",
		`{"jsonrpc":"2.0","method":"notifications/x","params":{"error":{}}}`:          "",
		`{"error":"text"}`: "",
		`{"error":{"message":"` + strings.Repeat("x", 5000) + `"}}`: "",
	} {
		if got, ok := toolbox.NamelessError([]byte(line)); got != want || ok != (want != "") {
			t.Errorf("%.80s: %v %.20q", line, ok, got)
		}
	}
}

func TestARequestIsSentWhenItIsEncoded(t *testing.T) {
	encodes, sent := toolbox.Marked(map[string]int{"a": 1})
	if sent() {
		t.Error("sent before")
	}
	if text, err := json.Marshal(encodes); string(text) != `{"a":1}` || err != nil || !sent() {
		t.Errorf("%s %v, sent: %v", text, err, sent())
	}
}

func TestToolsAreListedLessAndLess(t *testing.T) {
	var got []int32
	for n := range int32(130) {
		if n > 0 && toolbox.WorthListing(n) {
			got = append(got, n)
		}
	}
	if diff := cmp.Diff([]int32{1, 2, 4, 8, 16, 32, 60, 64, 120, 128}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWordsOfMCPGo(t *testing.T) {
	if toolbox.Unlogged().Enabled(t.Context(), slog.LevelError) {
		t.Error("something is logged")
	}
	refused := errors.New("refused")
	for _, test := range []struct{ err, want error }{
		{nil, io.ErrUnexpectedEOF}, {errors.New("listen: unexpected nil response"), io.ErrUnexpectedEOF}, {refused, refused},
	} {
		if got := toolbox.WhyLost(test.err); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
	if got := toolbox.WithoutLayers(fmt.Sprint("transport error: failed to send request: ", refused)); got != "refused" {
		t.Errorf("got %q", got)
	}
}
