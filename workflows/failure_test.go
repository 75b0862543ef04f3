package workflows_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

func timedOut() error { return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil) }

func TestAFailedModelCallIsReportedAndTheConversationStaysUsable(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		answer string
		tries  int
	}{
		{"no key", fails(contract.KindModelAuth, "OPENAI_API_KEY is not set"), "LLM error: OPENAI_API_KEY is not set", 1},
		{"bad request", fails(contract.KindModelRequest, "openai API error (400): no"), "LLM error: openai API error (400): no", 1},
		{"too long", fails(contract.KindModelContext, "the conversation is too long"), "LLM error: the conversation is too long", 1},
		{"rate limited", fails(contract.KindModelRateLimited, "openai API error (429)"), "LLM error: openai API error (429)", 3},
		{"down", fails(contract.KindModelUnavailable, "connection refused"), "LLM error: connection refused", 3},
		{"garbage", fails(contract.KindModelGarbage, "no choices in response"), "LLM error: no choices in response", 3},
		{"store down", fails(contract.KindBlob, "read a value"), "LLM error: read a value", 3},
		{"a bug", errors.New("boom"), "LLM error: boom", 3},
		{"hanging", timedOut(), "LLM error: the model did not answer in time.", 3},
	}
	for _, mode := range []contract.Execution{contract.ExecutionRegular, contract.ExecutionLean, contract.ExecutionAuto} {
		for _, tt := range tests {
			t.Run(string(mode)+"/"+tt.name, func(t *testing.T) {
				w := &world{}
				w.GenerateFn = func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
					return contract.GenerateResult{}, tt.err
				}
				converse(t, w, with(hello(), func(a *contract.Agent) { a.Execution = mode }), func(s *session) {
					s.rest()
					same(t, "answer", s.answer("r1"), tt.answer)
					same(t, "attempts", len(read(w, &w.prompts)), tt.tries)
					same(t, "status", s.view().Status, contract.StatusActive)
					w.GenerateFn = echo
					s.say("r2", "again")
					s.rest()
					same(t, "next answer", s.answer("r2"), "echo again")
				})
			})
		}
	}
}

func TestAPassingModelFailureIsNotReported(t *testing.T) {
	w := &world{GenerateFn: script(fails(contract.KindModelUnavailable, "503"), fails(contract.KindModelRateLimited, "429"), says("Here I am."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "transcript", s.lines()[1:], []string{"user: hello", "assistant: Here I am."})
		same(t, "usage", s.view().Usage.InputTokens, 10)
	})
}

func TestAFailedReadOnlyCallIsToldToTheModel(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		result string
		tries  int
	}{
		{"server down", fails(contract.KindToolUnavailable, "connection refused"), "Tool execution failed: connection refused", 3},
		{"protocol error", fails(contract.KindToolFailed, "no such method"), "Tool execution failed: no such method", 1},
		{"answer lost", fails(contract.KindOutcomeUnknown, "connection lost"), "Tool execution failed: connection lost", 1},
		{"wrong arguments", fails(contract.KindDigest, "not what was shown"), "Tool execution failed: not what was shown", 1},
		{"hanging", timedOut(), "Tool execution failed: no answer in time.", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(list("a"), list("b")), says("Sorry."))}
			w.CallToolFn = func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
				if in.Arguments.Raw[12] == 'b' {
					return returns("b"), nil
				}
				return contract.CallToolResult{}, tt.err
			}
			converse(t, w, hello(), func(s *session) {
				s.rest()
				s.nothingWaits()
				same(t, "results", s.lines()[4:], []string{
					"failed resources_list: " + tt.result, "result resources_list: b", "assistant: Sorry.",
				})
				same(t, "attempts", len(w.ran()), tt.tries+1)
			})
		})
	}
}

func TestAToolThatAnswersWithAnErrorIsAResult(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), says("Too bad."))}
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		return contract.CallToolResult{Text: contract.Inline("no such table"), IsError: true}, nil
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "result", s.lines()[3], "failed resources_list: no such table")
		same(t, "attempts", len(w.ran()), 1)
		same(t, "answer", s.answer("r1"), "Too bad.")
	})
}

func TestACrashingModelCallIsReportedWithoutInternals(t *testing.T) {
	w := &world{}
	w.GenerateFn = func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
		panic("index out of range")
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "LLM error: index out of range")
	})
}

const timeToRetry = time.Minute

var lost = map[string]error{
	"timeout":      timedOut(),
	"no heartbeat": temporal.NewHeartbeatTimeoutError(),
	"worker gone": temporal.NewApplicationErrorWithOptions("the worker ended", string(contract.KindTimeout), temporal.ApplicationErrorOptions{
		NextRetryDelay: time.Millisecond, Cause: temporal.NewHeartbeatTimeoutError(),
	}),
	"answer lost": fails(contract.KindOutcomeUnknown, "connection lost"),
	"crash":       nil, // the activity panics
	"too large":   fails("payloadSizeError", "the result is larger than 2 MiB"),
	"not encoded": fails("wrapError", "unable to encode the result"),
}

func TestALostDestructiveCallAsksAHumanWhoMayHaveItRepeated(t *testing.T) {
	for name, err := range lost {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
			first := true
			w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
				if first {
					first = false
					if err == nil {
						panic("index out of range")
					}
					return contract.CallToolResult{}, err
				}
				return returns("added"), nil
			}
			converse(t, w, hello(), func(s *session) {
				s.rest()
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
				s.rest()
				p := s.pending()
				same(t, "reason", p.Reason, contract.ReasonUnknownOutcome)
				if !strings.HasPrefix(p.Description, "**OUTCOME UNKNOWN: resources_add**") {
					t.Errorf("description: %s", p.Description)
				}
				same(t, "arguments", p.ToolArgs, add("x").Arguments)
				same(t, "answer to the first decision", s.request("d1").Result.Approval.UUID, p.UUID)
				same(t, "ran", len(w.ran()), 1)
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
				s.rest()
				calls := read(w, &w.calls)
				same(t, "ran", len(calls), 2)
				same(t, "granted by", calls[1].Grant, p.UUID)
				calls[1].Grant = ""
				same(t, "the repeated call", calls[1], calls[0])
				same(t, "answer", s.answer("d2"), "Added.")
			})
		})
	}
}

func TestALostDestructiveCallThatIsNotRepeatedIsToldToTheModel(t *testing.T) {
	for _, decision := range []string{"rejected", "expired"} {
		t.Run(decision, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(add("x"), list("a")), says("I do not know."))}
			w.CallToolFn = func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
				if in.Destructive {
					return contract.CallToolResult{}, timedOut()
				}
				return returns("one"), nil
			}
			in := with(hello(), func(a *contract.Agent) { a.ApprovalTimeout = time.Hour })
			converse(t, w, in, func(s *session) {
				s.rest()
				s.approve()
				s.rest()
				if decision == "rejected" {
					s.reject()
				} else {
					s.sleep(time.Hour)
				}
				s.rest()
				s.nothingWaits()
				same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`, `resources_list{"pattern":"a"}`})
				end := s.lines()
				same(t, "end of the transcript", end[len(end)-3:], []string{
					"failed resources_add: Outcome unknown: the call was sent and its answer was lost (no answer in time). It was not repeated.",
					"result resources_list: one", "assistant: I do not know.",
				})
			})
		})
	}
}

func TestCancelWhileALostCallIsAskedAboutEndsTheTurn(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("unheard"))}
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		return contract.CallToolResult{}, timedOut()
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.cancel("c1", "")
		s.rest()
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
		same(t, "ran", len(w.ran()), 1)
		s.nothingWaits()
	})
}
