package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

type fakeDesk struct {
	AskFn    func(ctx context.Context, workflowID, runID string, q contract.QuestionSignal) error
	AnswerFn func(ctx context.Context, uuid string) (contract.ApprovalResult, error)
}

func (f fakeDesk) Ask(ctx context.Context, workflowID, runID string, q contract.QuestionSignal) error {
	return f.AskFn(ctx, workflowID, runID, q)
}

func (f fakeDesk) Answer(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	return f.AnswerFn(ctx, uuid)
}

// askingTool returns a tool whose server asks n times during a call.
func askingTool(t *testing.T, desk activities.QuestionClient, n int, see func(toolbox.Answer, error)) *activities.Tools {
	q := &activities.Elicitation{Blobs: newMemory(), Client: desk}
	return tools(t, func(ctx context.Context, c toolbox.Call) (toolbox.Result, error) {
		for range n {
			see(q.Elicit(ctx, toolbox.Question{
				Server: c.Server, Tool: c.Tool, Key: c.IdempotencyKey, Message: "How many?", Schema: json.RawMessage(`{"type":"object"}`),
			}))
		}
		return toolbox.Result{}, nil
	})
}

func TestAQuestionGoesToTheWorkflowThatMakesTheCall(t *testing.T) {
	var asked []contract.QuestionSignal
	desk := fakeDesk{
		AskFn: func(_ context.Context, workflowID, runID string, q contract.QuestionSignal) error {
			if workflowID == "" || runID == "" {
				t.Errorf("asked workflow %q, run %q", workflowID, runID)
			}
			asked = append(asked, q)
			return nil
		},
		AnswerFn: func(_ context.Context, uuid string) (contract.ApprovalResult, error) {
			if uuid != asked[len(asked)-1].UUID {
				t.Errorf("waits for %s", uuid)
			}
			return contract.ApprovalResult{Decision: contract.Approved, Content: raw(`{"n":5}`)}, nil
		},
	}
	a := askingTool(t, desk, 2, func(got toolbox.Answer, err error) {
		if diff := cmp.Diff(toolbox.Answer{Action: toolbox.Accept, Content: map[string]any{"n": 5.0}}, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	if _, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, true)); err != nil {
		t.Fatal(err)
	}
	want := contract.QuestionSignal{Call: "key-1", Attempt: 1, Message: contract.Inline("How many?"), Schema: raw(`{"type":"object"}`)}
	for _, q := range asked {
		if !contract.IsUUID(q.UUID) {
			t.Errorf("uuid %q", q.UUID)
		}
		want.UUID = q.UUID
		if diff := cmp.Diff(want, q); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if len(asked) != 2 || asked[0].UUID == asked[1].UUID {
		t.Errorf("asked %+v", asked)
	}
}

func TestWhatBecomesOfAQuestion(t *testing.T) {
	away := errors.New("the server is away")
	for name, c := range map[string]struct {
		ask    error
		result contract.ApprovalResult
		err    error
		want   string
		why    string
	}{
		"declined":        {result: contract.ApprovalResult{Decision: contract.Rejected}, want: toolbox.Decline},
		"expired":         {result: contract.ApprovalResult{Decision: contract.Expired}, want: toolbox.Cancel, why: "it ended as expired"},
		"withdrawn":       {result: contract.ApprovalResult{Decision: contract.Cancelled, Reason: "the turn ended"}, want: toolbox.Cancel, why: "it ended as cancelled: the turn ended"},
		"no content":      {result: contract.ApprovalResult{Decision: contract.Approved, Content: raw(`5`)}, want: toolbox.Cancel, why: "the answer makes no sense"},
		"not taken":       {err: activities.ErrNotAsked, want: toolbox.Cancel, why: "nobody was shown it"},
		"could not ask":   {ask: away, want: toolbox.Cancel, why: "nobody was shown it: the question does not wait for anybody: the server is away"},
		"could not wait":  {err: away, want: toolbox.Cancel, why: "the answer could not be waited for: the server is away"},
		"accepted, empty": {result: contract.ApprovalResult{Decision: contract.Approved, Content: raw(`{}`)}, want: toolbox.Accept},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				desk := fakeDesk{
					AskFn:    func(context.Context, string, string, contract.QuestionSignal) error { return c.ask },
					AnswerFn: func(context.Context, string) (contract.ApprovalResult, error) { return c.result, c.err },
				}
				a := askingTool(t, desk, 1, func(got toolbox.Answer, err error) {
					if got.Action != c.want || !strings.HasPrefix(got.Problem, c.why) || (got.Problem == "") != (c.why == "") || err != nil {
						t.Errorf("got %+v, %v", got, err)
					}
				})
				if _, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, false)); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began); waited > 70*time.Second || errors.Is(c.err, activities.ErrNotAsked) != (waited > time.Minute) {
					t.Errorf("waited %s", waited)
				}
			})
		})
	}
}

func TestTheWorkflowNeedsAMomentToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		desk := fakeDesk{
			AskFn: func(context.Context, string, string, contract.QuestionSignal) error { return nil },
			AnswerFn: func(context.Context, string) (contract.ApprovalResult, error) {
				if tries++; tries < 4 {
					return contract.ApprovalResult{}, activities.ErrNotAsked
				}
				return contract.ApprovalResult{Decision: contract.Approved, Content: raw(`{"n":1}`)}, nil
			},
		}
		a := askingTool(t, desk, 1, func(got toolbox.Answer, err error) {
			if got.Action != toolbox.Accept || err != nil {
				t.Errorf("got %+v, %v", got, err)
			}
		})
		if _, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, false)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAWorkerThatStopsDoesNotWaitForPeople(t *testing.T) {
	stop := make(chan struct{})
	desk := fakeDesk{
		AskFn: func(context.Context, string, string, contract.QuestionSignal) error { close(stop); return nil },
		AnswerFn: func(ctx context.Context, _ string) (contract.ApprovalResult, error) {
			<-ctx.Done()
			return contract.ApprovalResult{}, ctx.Err()
		},
	}
	a := askingTool(t, desk, 1, func(_ toolbox.Answer, err error) {
		if !errors.Is(err, toolbox.ErrStopping) {
			t.Errorf("got %v", err)
		}
	})
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(a.CallTool)
	env.SetWorkerStopChannel(stop)
	if _, err := env.ExecuteActivity(a.CallTool, calling(t, `{}`, false)); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutAWorkflowThereIsNobodyToAsk(t *testing.T) {
	see := func(got toolbox.Answer, err error) {
		if got.Action != toolbox.Cancel || !strings.HasPrefix(got.Problem, "nobody was shown it") || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if _, err := askingTool(t, fakeDesk{}, 1, see).CallTool(t.Context(), calling(t, `{}`, false)); err != nil {
		t.Error(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment().SetTestTimeout(2 * time.Minute)
	a := askingTool(t, fakeDesk{}, 1, see)
	if _, err := env.ExecuteLocalActivity(a.CallTool, calling(t, `{}`, false)); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatLooksLikeAnAddressStaysAnAnswer(t *testing.T) {
	content := `{"blob":"` + strings.Repeat("0a", 32) + `","size":3}`
	var result contract.ApprovalResult
	if err := json.Unmarshal([]byte(`{"decision":"approved","content":`+content+`}`), &result); err != nil {
		t.Fatal(err)
	}
	desk := fakeDesk{
		AskFn:    func(context.Context, string, string, contract.QuestionSignal) error { return nil },
		AnswerFn: func(context.Context, string) (contract.ApprovalResult, error) { return result, nil },
	}
	a := askingTool(t, desk, 1, func(got toolbox.Answer, _ error) {
		if got.Content["size"] != 3.0 {
			t.Errorf("got %+v", got)
		}
	})
	if _, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, false)); err != nil {
		t.Fatal(err)
	}
}

// form returns a schema of the given size in bytes.
func form(size int) json.RawMessage {
	const head, tail = `{"type":"object","properties":{"n":{"type":"integer","description":"`, `"}},"required":["n"]}`
	return json.RawMessage(head + strings.Repeat("x", size-len(head)-len(tail)) + tail)
}

func TestALargeSchemaGoesByReference(t *testing.T) {
	for size, want := range map[int]struct{ accepts, why string }{
		contract.InlineLimit:           {},
		contract.InlineLimit + 1:       {accepts: `accepted is {"content":{…}} with "n" (integer, required)`},
		contract.MaxQuestionSchema:     {accepts: `accepted is {"content":{…}} with "n" (integer, required)`},
		contract.MaxQuestionSchema + 1: {why: "nobody was shown it: its schema has 65537 bytes; at most 65536 are shown"},
	} {
		var asked []contract.QuestionSignal
		blobs := newMemory()
		q := &activities.Elicitation{Blobs: blobs, Client: fakeDesk{
			AskFn: func(_ context.Context, _, _ string, q contract.QuestionSignal) error {
				asked = append(asked, q)
				return nil
			},
			AnswerFn: func(context.Context, string) (contract.ApprovalResult, error) {
				return contract.ApprovalResult{Decision: contract.Approved, Content: raw(`{"n":1}`)}, nil
			},
		}}
		a := tools(t, func(ctx context.Context, _ toolbox.Call) (toolbox.Result, error) {
			got, err := q.Elicit(ctx, toolbox.Question{Message: "How many?", Schema: form(size)})
			if got.Problem != want.why || (got.Action == toolbox.Accept) != (want.why == "") {
				t.Errorf("%d bytes: got %+v", size, got)
			}
			return toolbox.Result{}, err
		})
		if _, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, false)); err != nil {
			t.Fatal(err)
		}
		if (len(asked) == 0) != (want.why != "") {
			t.Errorf("%d bytes: asked %+v", size, asked)
		}
		for _, s := range asked {
			got, err := transcript.ReadJSON(t.Context(), blobs, s.Schema)
			if err != nil || string(got) != string(form(size)) || (s.Schema.Blob != nil) != (want.accepts != "") || !strings.HasPrefix(s.Accepts, want.accepts) {
				t.Errorf("%d bytes: %v, asked %+v", size, err, s)
			}
		}
	}
}
