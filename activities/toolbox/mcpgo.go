package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Each function here works around one problem of mcp-go (v1.2.1), and names the change of mcp-go
// that would make it unnecessary. Where no issue is named, none is known.

// withoutResult replaces the answer to a call, which is read from the trace instead: mcp-go
// decodes every result into types that drop unknown fields, and decoding it twice costs as much
// as the rest of a call.
//
// Unnecessary with a call of client.Client that returns the raw result.
func withoutResult(resp *transport.JSONRPCResponse) *transport.JSONRPCResponse {
	return transport.NewJSONRPCResultResponse(resp.ID, json.RawMessage(`{"content":[]}`))
}

// endOfPages replaces a page of a list: mcp-go reads pages as long as the server has one, and
// only an error ends that.
//
// Unnecessary with a limit of pages and bytes for client.Client's lists.
func endOfPages(resp *transport.JSONRPCResponse, why error) *transport.JSONRPCResponse {
	return transport.NewJSONRPCErrorResponse(resp.ID, mcp.INTERNAL_ERROR, why.Error(), nil)
}

// signDelete adds the caller's headers to the DELETE that ends the session: mcp-go adds them to
// every other request.
//
// Unnecessary when transport.StreamableHTTP.Close asks its HTTPHeaderFunc.
func signDelete(req *http.Request, headers map[string]string) *http.Request {
	if req.Method != http.MethodDelete {
		return req
	}
	return withHeaders(req, headers)
}

// withoutAnswerDeadline returns ctx without its deadline: mcp-go allows 30 seconds for the
// answer to a request of the server, and people take longer. The context ends with life at the
// latest. mcp-go cannot send the answer after that deadline, so httpWire posts it.
//
// Unnecessary with an option of transport.StreamableHTTP for that time.
func withoutAnswerDeadline(ctx, life context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	gone := context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})
	closed := context.AfterFunc(life, cancel)
	return out, func() { gone(); closed(); cancel() }
}

// callKey finds the context of the call in that of its request.
type callKey struct{}

// withoutDeadline returns a context that ends with ctx or broken but has no deadline: mcp-go's
// SSE reports a deadline as its own error, and does not notice the end of the answer stream.
// ofCall restores the deadline for the posted request.
//
// Unnecessary when transport.SSE returns ctx's error, and an error for all requests
// that wait when its stream ends.
func withoutDeadline(ctx, broken context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), callKey{}, ctx))
	ended := context.AfterFunc(ctx, cancel)
	lost := context.AfterFunc(broken, cancel)
	return out, func() { ended(); lost(); cancel() }
}

// ofCall limits a request that was made withoutDeadline to the time of its call. A server may
// refuse it even after the stream has ended.
func ofCall(req *http.Request) *http.Request {
	if call, ok := req.Context().Value(callKey{}).(context.Context); ok {
		return req.WithContext(call)
	}
	return req
}

// requestIn finds a request of the server, with a method and a number, among the events that
// mcp-go's SSE reads: it would take it for the answer to our request of the same number, and
// never answers it.
//
// Unnecessary when transport.SSE implements BidirectionalInterface
// (https://github.com/mark3labs/mcp-go/issues/536 is about the numbers).
func requestIn(data []byte) (transport.JSONRPCRequest, bool) {
	var req transport.JSONRPCRequest
	if !bytes.Contains(data, []byte(`"method"`)) || json.Unmarshal(data, &req) != nil {
		return req, false
	}
	return req, req.Method != "" && !req.ID.IsNil()
}

// namelessError finds an error without an ID, which mcp-go drops: the request that the server
// could not parse would wait for ever.
//
// Unnecessary when transport.Stdio fails the running requests on such an error.
func namelessError(line []byte) (message string, ok bool) {
	const most = 4 << 10
	if len(line) > most || !bytes.Contains(line, []byte(`"error"`)) {
		return "", false
	}
	var m struct {
		ID     *json.RawMessage `json:"id"`
		Method string           `json:"method"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(line, &m) != nil || m.ID != nil || m.Method != "" || m.Error == nil {
		return "", false
	}
	return m.Error.Message, true
}

// writeMarker records in the trace that its request is about to be written. mcp-go's stdio
// returns "transport closed" both before and after writing; in between it encodes the request,
// and only if it then writes it.
//
// Unnecessary when transport.Stdio returns a distinct error for a request that was not written.
type writeMarker struct {
	value any
	x     *trace
}

func (m writeMarker) MarshalJSON() ([]byte, error) {
	m.x.sent.Store(true)
	return json.Marshal(m.value)
}

// cancellation returns the notification that a request is cancelled. mcp-go sends it over stdio
// only.
//
// Unnecessary when client.Client sends it over HTTP, too, in the protocols with
// sessions.
func cancellation(id mcp.RequestId) mcp.JSONRPCNotification {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = string(mcp.MethodNotificationCancelled)
	n.Params.AdditionalFields = map[string]any{"requestId": id, "reason": "the caller no longer waits"}
	return n
}

// worthListing reports whether the tools are to be listed after a stream of server messages has
// failed to open the given number of times: mcp-go requests it every second. It does so after 1,
// 2, 4 and so on, and once a minute.
//
// Unnecessary with a back-off of WithContinuousListening, or a hook for its failures.
func worthListing(times int32) bool { return times&(times-1) == 0 || times%60 == 0 }

// discardLogger is for mcp-go's transports: they log each retry of a stream, and each answer
// that could not be written to an ended child. link.go logs what happens to a server, once.
//
// Unnecessary when they return these errors.
func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// streamEndReason describes mcp-go's error of an ended stream.
//
// Unnecessary when transport.StreamableHTTP returns io.ErrUnexpectedEOF then.
func streamEndReason(err error) error {
	if err == nil || strings.Contains(err.Error(), "unexpected nil response") {
		return io.ErrUnexpectedEOF
	}
	return err
}

// withoutLayers drops what mcp-go puts before the cause in the text of an error.
//
// Unnecessary when its transports return typed errors around the cause.
func withoutLayers(text string) string {
	for _, layer := range []string{"transport error: ", "failed to send request: ", "failed to connect to SSE stream: "} {
		text = strings.ReplaceAll(text, layer, "")
	}
	return text
}
