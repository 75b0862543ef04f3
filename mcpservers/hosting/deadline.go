package hosting

import (
	"net/http"
	"time"
)

// writeSize is the number of bytes that are written under one deadline.
const writeSize = 64 << 10

// limitWrites ends a response that its client does not read: each piece must be sent within
// timeout. Streams may be idle without limit.
func limitWrites(timeout time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &deadlineWriter{w, http.NewResponseController(w), timeout}
		_ = out.control.SetWriteDeadline(time.Time{}) // removes the deadline of the previous request on this connection
		defer out.extend()                            // for the data that is still buffered
		next.ServeHTTP(out, r)
	})
}

type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (t *deadlineWriter) extend() { _ = t.control.SetWriteDeadline(time.Now().Add(t.timeout)) }

func (t *deadlineWriter) Write(p []byte) (written int, err error) {
	for {
		t.extend()
		n, err := t.ResponseWriter.Write(p[:min(len(p), writeSize)])
		written, p = written+n, p[n:]
		if err != nil || len(p) == 0 {
			return written, err
		}
	}
}

func (t *deadlineWriter) Flush() {
	t.extend()
	_ = t.control.Flush()
}

func (t *deadlineWriter) Unwrap() http.ResponseWriter { return t.ResponseWriter }
