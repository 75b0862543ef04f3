package llmtest

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// Say answers with a text.
func Say(text string) Answer { return answerWith(outcome{text: text, finish: llm.FinishStop}) }

// Think answers with a text after thoughts, where the format has them.
func Think(thoughts, text string) Answer {
	return answerWith(outcome{thoughts: thoughts, text: text, finish: llm.FinishStop})
}

// CallTools answers with tool calls, and with a text unless it is empty. Arguments are sent
// unchanged, even if they are invalid, and so are empty and equal IDs.
func CallTools(text string, calls ...llm.Call) Answer {
	return answerWith(outcome{text: text, calls: calls, finish: llm.FinishToolCalls})
}

// Refuse answers with a refusal.
func Refuse(why string) Answer { return answerWith(outcome{refusal: why, finish: llm.FinishRefusal}) }

// Finish answers with a text and a finish reason: a constant of package llm is translated to
// the format's word, any other is sent unchanged.
func Finish(text, reason string) Answer { return answerWith(outcome{text: text, finish: reason}) }

// Huge answers with a text of n bytes.
func Huge(n int) Answer { return Say(strings.Repeat("x", n)) }

// Frames answers with a stream of these events, each flushed separately. They are sent
// unchanged: valid ones have "data: " and a blank line at the end.
func Frames(events ...string) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		frames(events...)(w, r)
	}
}

// frames writes events without setting headers, for an answer that has begun.
func frames(events ...string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, event := range events {
			if _, err := io.WriteString(w, event); err != nil {
				return // the client has disconnected
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
	_, _ = w.Write([]byte(body)) // the client may have disconnected
}
