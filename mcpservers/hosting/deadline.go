package hosting

import (
	"net/http"
	"time"
)

// writeSize is how much of an answer is under one deadline.
const writeSize = 64 << 10

// limitWrites ends an answer that its client does not read: each piece must be sent within
// timeout. Streams may be silent without limit.
func limitWrites(timeout time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &deadlineWriter{w, http.NewResponseController(w), timeout}
		_ = out.control.SetWriteDeadline(time.Time{}) // of the request before on this connection
		defer out.extend()                            // for what is still buffered
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
