package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// Step answers one request.
type Step func(llm.Request) (llm.Reply, error)

// Scripted is an llm.Model that answers from a script.
type Scripted struct {
	mu       sync.Mutex
	steps    []Step
	always   Step
	requests []llm.Request
}

var _ llm.Model = (*Scripted)(nil)

// Script returns a model that takes the steps in order, one for each request.
// When none are left, a request fails with an error that is not retried.
func Script(steps ...Step) *Scripted { return &Scripted{steps: steps} }

// Func returns a model that answers every request with step, which may be
// called concurrently.
func Func(step Step) *Scripted { return &Scripted{always: step} }

// Text is the step that answers with a text.
func Text(text string) Step {
	return Give(llm.Reply{Text: text, Finish: llm.FinishStop})
}

// Call is the step that calls one tool, with arguments as JSON.
func Call(name, arguments string) Step { return Calls("", ToolCall("call00001", name, arguments)) }

// Calls is the step that calls tools, with an optional text.
func Calls(text string, calls ...llm.Call) Step {
	return Give(llm.Reply{Text: text, Calls: calls, Finish: llm.FinishToolCalls})
}

// ToolCall builds a call.
func ToolCall(id, name, arguments string) llm.Call {
	return llm.Call{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

// Give is the step that answers with this reply. An empty model becomes "scripted".
func Give(r llm.Reply) Step {
	if r.Model == "" {
		r.Model = "scripted"
	}
	return func(llm.Request) (llm.Reply, error) { return r, nil }
}

// Err is the step that fails.
func Err(kind contract.Kind, message string) Step {
	return func(llm.Request) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: kind, Message: message}
	}
}

// Then adds steps to the script.
func (s *Scripted) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Generate implements llm.Model.
func (s *Scripted) Generate(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, &llm.Error{Kind: contract.KindModelUnavailable, Message: "the call was cancelled", Err: err}
	}
	return s.next(r)(r)
}

func (s *Scripted) next(r llm.Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Messages, r.Tools = slices.Clone(r.Messages), slices.Clone(r.Tools)
	s.requests = append(s.requests, r)
	if len(s.steps) > 0 {
		step := s.steps[0]
		s.steps = s.steps[1:]
		return step
	}
	if s.always != nil {
		return s.always
	}
	return Err(contract.KindModelRequest, fmt.Sprintf("llmtest: the script has no answer for request %d", len(s.requests)))
}

// Requests lists what the model was asked, in order.
func (s *Scripted) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left is the number of steps not taken yet.
func (s *Scripted) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}
