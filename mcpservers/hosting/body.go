package hosting

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	bodyTimeout   = 30 * time.Second
	maxInitialize = 64 << 10 // bytes; any client may send it, and the session stores parts of it
)

// call is the part of a request body that the layers around mcp-go need. The zero value stands
// for a body that is not a JSON object, which mcp-go refuses.
type call struct {
	method  mcp.MCPMethod
	version string // protocol version in the body, since protocol 2026-07-28
}

func parseCall(r *http.Request) (call, bool) {
	body, ok := r.Body.(*bufferedBody)
	if !ok || r.Method != http.MethodPost {
		return call{}, false
	}
	var message struct {
		Method mcp.MCPMethod `json:"method"`
	}
	if json.Unmarshal(body.text, &message) != nil {
		return call{}, false
	}
	var meta struct {
		Params struct {
			Meta *mcp.Meta `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body.text, &meta)
	return call{message.Method, meta.Params.Meta.ProtocolVersion()}, true
}

// limitReads ends a request whose sender is slow, even while its body is only skipped to reach
// the next request.
func limitReads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		next.ServeHTTP(w, r)
	})
}

// limitBody reads the whole body before mcp-go does, so that a body that is too large gives 413
// and not a parse error. It then removes the read deadline, so that streams stay open.
func limitBody(limit int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			http.Error(w, "Request body over "+size(limit), http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "Request body could not be read", http.StatusBadRequest)
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
		r.Body = &bufferedBody{Reader: bytes.NewReader(body), text: body}
		if len(body) > maxInitialize && isInitialize(r) {
			http.Error(w, "Request body of initialize over "+size(maxInitialize), http.StatusRequestEntityTooLarge)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isInitialize(r *http.Request) bool {
	call, _ := parseCall(r)
	return call.method == mcp.MethodInitialize
}

func size(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	if n%(1<<10) == 0 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// bufferedBody is a body that has been read.
type bufferedBody struct {
	*bytes.Reader
	text []byte
}

func (*bufferedBody) Close() error { return nil }
