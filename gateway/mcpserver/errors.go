package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// plainErrors turns errors of the transport, which are plain text, into JSON-RPC errors.
type plainErrors struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (w *plainErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest && !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *plainErrors) Write(data []byte) (int, error) {
	if w.status != 0 {
		return w.text.Write(data)
	}
	return w.ResponseWriter.Write(data)
}

// Unwrap is for http.ResponseController.
func (w *plainErrors) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *plainErrors) Flush() {
	if w.status == 0 {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // the next write has its error
	}
}

// finish writes the error, if there is one.
func (w *plainErrors) finish() error {
	if w.status == 0 {
		return nil
	}
	h := w.Header()
	h.Del("Content-Length")
	h.Set("Content-Type", "application/json")
	w.ResponseWriter.WriteHeader(w.status)
	return json.NewEncoder(w.ResponseWriter).Encode(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32600, "message": strings.TrimSpace(w.text.String())},
	})
}
