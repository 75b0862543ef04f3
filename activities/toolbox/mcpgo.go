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

// Each function here works around one thing in mcp-go (v1.2.1), and says what in
// mcp-go would make it superfluous. Where no issue of mcp-go is named, none is known.

// withoutResult takes the place of the answer to a call, which is read from the exchange
// instead: mcp-go decodes every result into types that drop what they do not know,
// and doing that beside our own reading costs as much as all the rest of a call.
//
// Superfluous with a call of client.Client that returns the raw result.
func withoutResult(resp *transport.JSONRPCResponse) *transport.JSONRPCResponse {
	return transport.NewJSONRPCResultResponse(resp.ID, json.RawMessage(`{"content":[]}`))
}

// endOfPages takes the place of a page of a list: mcp-go reads page after page as
// long as the server has one, and only an error ends that.
//
// Superfluous with a limit of pages and bytes for client.Client's lists.
func endOfPages(resp *transport.JSONRPCResponse, why error) *transport.JSONRPCResponse {
	return transport.NewJSONRPCErrorResponse(resp.ID, mcp.INTERNAL_ERROR, why.Error(), nil)
}

// signDelete adds the headers of the caller whose session it is to the DELETE that
// ends the session: mcp-go adds them to every other request.
//
// Superfluous when transport.StreamableHTTP.Close asks its HTTPHeaderFunc.
func signDelete(req *http.Request, headers map[string]string) *http.Request {
	if req.Method != http.MethodDelete {
		return req
	}
	return withHeaders(req, headers)
}

// neverRetry is ctx without its deadline: mcp-go gives the answer to a request of the
// server 30 seconds, and a person takes longer. It ends with life at the latest.
// mcp-go's own way to send the answer ends with the deadline, so httpWire posts it.
//
// Superfluous with an option of transport.StreamableHTTP for that time.
func neverRetry(ctx, life context.Context) (context.Context, context.CancelFunc) {
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

// withoutDeadline ends when ctx does or broken, but shows no deadline: mcp-go's SSE
// reports one as an error of its own, and does not notice that the stream of answers
// has ended. ofCall gives what is posted the deadline back.
//
// Superfluous when transport.SSE returns ctx's error, and an error for all requests
// that wait when its stream ends.
func withoutDeadline(ctx, broken context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), callKey{}, ctx))
	ended := context.AfterFunc(ctx, cancel)
	lost := context.AfterFunc(broken, cancel)
	return out, func() { ended(); lost(); cancel() }
}

// ofCall has a request that was made withoutDeadline last as long as its call. Also
// when the stream has ended, a server may say that it refuses.
func ofCall(req *http.Request) *http.Request {
	if call, ok := req.Context().Value(callKey{}).(context.Context); ok {
		return req.WithContext(call)
	}
	return req
}

// requestIn finds a request of the server, what has a method and a number, among the
// events that mcp-go's SSE reads: it would take one for the answer to the request of
// ours that has the same number, and answers none.
//
// Superfluous when transport.SSE implements BidirectionalInterface
// (https://github.com/mark3labs/mcp-go/issues/536 is about the numbers).
func requestIn(data []byte) (transport.JSONRPCRequest, bool) {
	var req transport.JSONRPCRequest
	if !bytes.Contains(data, []byte(`"method"`)) || json.Unmarshal(data, &req) != nil {
		return req, false
	}
	return req, req.Method != "" && !req.ID.IsNil()
}

// namelessError finds an error without an ID, which mcp-go drops: the request that
// the server could not read would wait for ever.
//
// Superfluous when transport.Stdio fails what is under way with such an error.
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

// markedHeader tells the exchange that its request is about to be written. mcp-go's stdio
// answers "transport closed" both before and after writing; it encodes the request
// in between, and only when it goes on to write it.
//
// Superfluous when transport.Stdio has an error of its own for what was not written.
type markedHeader struct {
	value any
	x     *trace
}

func (m markedHeader) MarshalJSON() ([]byte, error) {
	m.x.sent.Store(true)
	return json.Marshal(m.value)
}

// cancellation says that nobody waits for the answer to a request any more. mcp-go
// sends it over stdio only.
//
// Superfluous when client.Client sends it over HTTP, too, in the protocols with
// sessions.
func cancellation(id mcp.RequestId) mcp.JSONRPCNotification {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = string(mcp.MethodNotificationCancelled)
	n.Params.AdditionalFields = map[string]any{"requestId": id, "reason": "the caller no longer waits"}
	return n
}

// worthListing reports whether the tools shall be listed after so many times that a
// stream of server messages did not open: mcp-go asks for it every second. It is so
// after 1, 2, 4 and so on, and once a minute.
//
// Superfluous with a back-off of WithContinuousListening, or a hook for its failures.
func worthListing(times int32) bool { return times&(times-1) == 0 || times%60 == 0 }

// discardLogs is for mcp-go's transports: they log each retry of a stream, and each answer
// that a child that was ended does not take. link.go logs what happens to a server, once.
//
// Superfluous when they return what they log.
func discardLogs() *slog.Logger { return slog.New(slog.DiscardHandler) }

// lostReason puts into plain words what mcp-go returns when a stream has ended.
//
// Superfluous when transport.StreamableHTTP returns io.ErrUnexpectedEOF then.
func lostReason(err error) error {
	if err == nil || strings.Contains(err.Error(), "unexpected nil response") {
		return io.ErrUnexpectedEOF
	}
	return err
}

// withoutLayers drops what mcp-go puts before the cause in the text of an error.
//
// Superfluous when its transports return typed errors around the cause.
func withoutLayers(text string) string {
	for _, layer := range []string{"transport error: ", "failed to send request: ", "failed to connect to SSE stream: "} {
		text = strings.ReplaceAll(text, layer, "")
	}
	return text
}
