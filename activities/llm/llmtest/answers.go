package llmtest

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// Say answers with a text.
func Say(text string) Answer { return speak(said{text: text, finish: llm.FinishStop}) }

// Think answers with a text after thoughts, where the format has them.
func Think(thoughts, text string) Answer {
	return speak(said{thoughts: thoughts, text: text, finish: llm.FinishStop})
}

// CallTools answers with tool calls, and with a text beside unless it is empty.
// Arguments go out as they are, broken or not; so do empty and equal IDs.
func CallTools(text string, calls ...llm.Call) Answer {
	return speak(said{text: text, calls: calls, finish: llm.FinishToolCalls})
}

// Refuse answers with a refusal.
func Refuse(why string) Answer { return speak(said{refusal: why, finish: llm.FinishRefusal}) }

// Finish answers with a text and any finish reason: one of package llm in the
// format's own word, any other as it is.
func Finish(text, reason string) Answer { return speak(said{text: text, finish: reason}) }

// Huge answers with a text of n bytes.
func Huge(n int) Answer { return Say(strings.Repeat("x", n)) }

// Frames answers with a stream of these events, each flushed by itself. They go
// out as they are: with "data: " and the blank line at the end, or broken.
func Frames(events ...string) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		frames(events...)(w, r)
	}
}

// frames is the rest of Frames.
func frames(events ...string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, event := range events {
			if _, err := io.WriteString(w, event); err != nil {
				return // the client has gone
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// JSON answers with any status and any body, as application/json.
func JSON(status int, body string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, status, body) }
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may have gone
}
