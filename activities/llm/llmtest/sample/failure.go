package sample

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// Failure asks a question and returns the error, which must be an *llm.Error
// fit for a conversation.
func Failure(t *testing.T, m llm.Model, model string) *llm.Error {
	t.Helper()
	_, err := m.Generate(t.Context(), llm.Request{Model: model, Messages: []contract.Message{User("hi")}, Tools: Resources})
	return Plain(t, err)
}

// Plain returns the *llm.Error of a call, and checks that its message is one sentence.
func Plain(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v; want an *llm.Error", err)
	}
	if len(e.Message) > 500 || strings.ContainsAny(e.Message, "\n\r\t") || e.Message == "" {
		t.Errorf("message of %d bytes: %q", len(e.Message), e.Message)
	}
	return e
}

// NoKey fails when any form of the error shows eight bytes in a row of the key.
func NoKey(t *testing.T, err error) {
	t.Helper()
	shown := fmt.Sprintf("%v %+v %#v %q", err, err, err, err)
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		shown += fmt.Sprintf(" %v %+v %#v", inner, inner, inner)
	}
	for i := 0; i+8 <= len(Canary); i++ {
		if strings.Contains(shown, Canary[i:i+8]) {
			t.Errorf("the error shows the key: %s", shown)
			return
		}
	}
}
