package llmtest

import (
	"io"
	"net/http"
	"unicode/utf8"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// wire is a wire format that a Server speaks.
type wire interface {
	// speaks reports whether a request to this path is in the format.
	speaks(path string) bool
	// key returns the key of a request.
	key(r *http.Request) string
	// validate applies the API's rules to a request; nil if it is valid.
	validate(r *http.Request, body []byte) *apiError
	// refusal returns the body of an error.
	refusal(e *apiError) string
	// streams reports whether a request wants its answer as a stream.
	streams(r *http.Request, body []byte) bool
	// whole returns the body of an answer that is not a stream.
	whole(s outcome) string
	// events returns the frames of a stream, each with the blank line at its end.
	events(s outcome) []string
}

// wires are all formats. The first also handles unknown paths.
var wires = []wire{chat{}, anthropic{}, gemini{}}

func wireOf(path string) wire {
	for _, w := range wires {
		if w.speaks(path) {
			return w
		}
	}
	return wires[0]
}

// outcome is a reply that is independent of the formats.
type outcome struct {
	text     string
	thoughts string
	calls    []llm.Call // arguments are sent unchanged, even if invalid
	refusal  string
	// finish is why the model stopped: a constant of package llm, or any other word, which
	// is sent unchanged.
	finish string
	usage  contract.Usage
	// If after is not 0, a stream sends that many frames and continues with then.
	after int
	then  Answer
	// With ready instead of then, the stream's own frames continue when ready is closed.
	ready <-chan struct{}
}

// sampleUsage is the usage of every reply.
var sampleUsage = contract.Usage{InputTokens: 19, OutputTokens: 10, CachedTokens: 3}

func answerWith(s outcome) Answer {
	s.usage = sampleUsage
	return func(w http.ResponseWriter, r *http.Request) {
		wire := wireOf(r.URL.Path)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if !wire.streams(r, body) {
			writeJSON(w, http.StatusOK, wire.whole(s))
			return
		}
		s.stream(w, r, wire.events(s))
	}
}

// stream writes the frames of an answer, each flushed separately.
func (s outcome) stream(w http.ResponseWriter, r *http.Request, frames []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for i, frame := range frames {
		if s.after > 0 && i == s.after && s.then != nil {
			s.then(w, r)
			return
		}
		if s.after > 0 && i == s.after && !s.waitUntilReady(r) {
			return
		}
		if _, err := io.WriteString(w, frame); err != nil {
			return // the client has disconnected
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// waitUntilReady waits for ready, and reports whether the client is still connected.
func (s outcome) waitUntilReady(r *http.Request) bool {
	select {
	case <-s.ready:
		return true
	case <-r.Context().Done():
		return false
	}
}

// pieces cuts a text as models send it: a few characters at a time, long ones in
// larger pieces.
func pieces(text string) []string {
	size := max(8, min(len(text)/64, 32<<10))
	var out []string
	for len(text) > size {
		n := size
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// fail answers with an error in the form of the request's format.
func fail(e *apiError) Answer {
	return func(w http.ResponseWriter, r *http.Request) { refuse(w, r, e) }
}

func refuse(w http.ResponseWriter, r *http.Request, e *apiError) {
	writeJSON(w, e.Status, wireOf(r.URL.Path).refusal(e))
}
