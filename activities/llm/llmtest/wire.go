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
	// key is the key that a request brought.
	key(r *http.Request) string
	// validate applies the API's rules to a request; nil when it is fine.
	validate(r *http.Request, body []byte) *apiError
	// refusal is the body of an error.
	refusal(e *apiError) string
	// streams reports whether a request wants its answer as a stream.
	streams(r *http.Request, body []byte) bool
	// whole is the body of an answer that is no stream.
	whole(s said) string
	// events are the frames of one that is, each with the blank line at its end.
	events(s said) []string
}

// wires are all formats. The first also takes the paths of none.
var wires = []wire{chat{}, anthropic{}, gemini{}}

func wireOf(path string) wire {
	for _, w := range wires {
		if w.speaks(path) {
			return w
		}
	}
	return wires[0]
}

// said is a reply before it is written in a format.
type said struct {
	text     string
	thoughts string
	calls    []llm.Call // their arguments go out as they are, broken or not
	refusal  string
	// finish is why the model stopped: one of the words of package llm, or any other,
	// which goes out as it is.
	finish string
	usage  contract.Usage
	// A stream goes on with then instead of its frames from the number after on,
	// unless that is 0.
	after int
	then  Answer
	// With ready instead of then, the stream goes on itself when ready is closed.
	ready <-chan struct{}
}

// sampleUsage is what every reply took.
var sampleUsage = contract.Usage{InputTokens: 19, OutputTokens: 10, CachedTokens: 3}

func speak(s said) Answer {
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

// stream writes the frames of an answer, each flushed by itself.
func (s said) stream(w http.ResponseWriter, r *http.Request, frames []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for i, frame := range frames {
		if s.after > 0 && i == s.after && s.then != nil {
			s.then(w, r)
			return
		}
		if s.after > 0 && i == s.after && !s.goesOn(r) {
			return
		}
		if _, err := io.WriteString(w, frame); err != nil {
			return // the client has gone
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// goesOn waits until ready, and reports whether the client is still there.
func (s said) goesOn(r *http.Request) bool {
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
