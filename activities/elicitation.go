package activities

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// QuestionClient submits questions to people.
type QuestionClient interface {
	// Ask sends a question to the workflow that makes the call.
	Ask(ctx context.Context, workflowID, runID string, q contract.QuestionSignal) error
	// Answer waits for the decision. It fails with ErrNotAsked while no approval is open.
	Answer(ctx context.Context, uuid string) (contract.ApprovalResult, error)
}

// ErrNotAsked is the error of a question that has not been shown to a user yet.
var ErrNotAsked = errors.New("the question does not wait for anybody")

// askTimeout is how long a workflow may take to open an approval. It never does if it no longer
// needs the question.
const askTimeout = time.Minute

// Elicitation submits the questions of tool servers to people. It is the toolbox's Elicitor,
// for calls that activities make.
type Elicitation struct {
	Blobs transcript.Store
	// Client defaults to the activity's own Temporal client.
	Client QuestionClient

	asked atomic.Int64
}

// Elicit implements toolbox.Elicitor. Outside of a regular activity there is no workflow to
// ask, so the question is cancelled; so it is if the workflow does not take it. If the worker
// stops, the call ends with toolbox.ErrStopping.
func (q *Elicitation) Elicit(ctx context.Context, question toolbox.Question) (toolbox.Answer, error) {
	if !activity.IsActivity(ctx) || activity.GetInfo(ctx).IsLocalActivity {
		return noAnswer(errors.New("it does not come from a call of an activity")), nil
	}
	signal, err := q.signal(ctx, question)
	if err != nil {
		return noAnswer(err), nil
	}
	desk := q.Client
	if desk == nil {
		desk = temporalQuestions{activity.GetClient(ctx)}
	}
	asking, stop := withWorkerStop(ctx)
	defer stop()
	run := activity.GetInfo(ctx).WorkflowExecution
	if err = desk.Ask(asking, run.ID, run.RunID, signal); err != nil {
		err = fmt.Errorf("%w: %w", ErrNotAsked, err)
	}
	var r contract.ApprovalResult
	if err == nil {
		r, err = awaitAnswer(asking, desk, signal.UUID)
	}
	switch {
	case ctx.Err() != nil:
		return toolbox.Answer{}, ctx.Err()
	case errors.Is(context.Cause(asking), toolbox.ErrStopping):
		return toolbox.Answer{}, toolbox.ErrStopping
	case errors.Is(err, ErrNotAsked):
		return noAnswer(err), nil
	case err != nil:
		return toolbox.Answer{Action: toolbox.Cancel, Problem: fmt.Sprintf("the answer could not be waited for: %v", err)}, nil
	}
	return answerOf(r), nil
}

// noAnswer returns the answer to a question that was not shown to a user.
func noAnswer(err error) toolbox.Answer {
	return toolbox.Answer{Action: toolbox.Cancel, Problem: fmt.Sprintf("nobody was shown it: %v", err)}
}

// withWorkerStop is a context that also ends when the worker stops.
func withWorkerStop(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := activity.GetWorkerStopChannel(ctx)
	go func() {
		select {
		case <-stopped:
			cancel(toolbox.ErrStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// signal returns the question for the workflow. Its UUID entitles to answer it and is therefore
// random.
func (q *Elicitation) signal(ctx context.Context, question toolbox.Question) (contract.QuestionSignal, error) {
	attempt := activity.GetInfo(ctx).Attempt
	var space [16]byte
	_, _ = rand.Read(space[:]) // never fails, see crypto/rand.Read
	s := contract.QuestionSignal{
		UUID: contract.NameUUID(hex.EncodeToString(space[:]), fmt.Sprintf("question %s %d %d", question.Key, attempt, q.asked.Add(1))),
		Call: question.Key, Attempt: attempt,
	}
	var err error
	if len(question.Schema) > contract.MaxQuestionSchema {
		return s, fmt.Errorf("its schema has %d bytes; at most %d are shown", len(question.Schema), contract.MaxQuestionSchema)
	}
	if s.Message, err = transcript.Text(ctx, q.Blobs, question.Message); err != nil {
		return s, err
	}
	s.Schema, s.Accepts, err = keepSchema(ctx, q.Blobs, question.Schema)
	return s, err
}

// keepSchema stores the schema of an answer if it is too large for history, and then also
// returns a description of it.
func keepSchema(ctx context.Context, store transcript.Store, schema json.RawMessage) (kept contract.JSON, accepts string, err error) {
	if kept, err = transcript.JSON(ctx, store, schema); kept.Blob != nil {
		accepts = answer.AcceptedBy(schema)
	}
	return kept, accepts, err
}

// awaitAnswer waits for the approval to open, and then for the decision.
func awaitAnswer(ctx context.Context, desk QuestionClient, uuid string) (contract.ApprovalResult, error) {
	began := time.Now()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		r, err := desk.Answer(ctx, uuid)
		if !errors.Is(err, ErrNotAsked) || time.Since(began) > askTimeout {
			return r, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return r, ctx.Err()
		}
	}
}

// answerOf converts a decision. No answer in time is not a refusal.
func answerOf(r contract.ApprovalResult) toolbox.Answer {
	switch r.Decision {
	case contract.Approved:
		content := map[string]any{}
		raw, err := json.Marshal(r.Content)
		if err == nil {
			err = json.Unmarshal(raw, &content)
		}
		if err != nil {
			return toolbox.Answer{Action: toolbox.Cancel, Problem: fmt.Sprintf("the answer makes no sense: %v", err)}
		}
		return toolbox.Answer{Action: toolbox.Accept, Content: content}
	case contract.Rejected:
		return toolbox.Answer{Action: toolbox.Decline}
	}
	return toolbox.Answer{Action: toolbox.Cancel, Problem: strings.TrimRight(fmt.Sprintf("it ended as %s: %s", r.Decision, r.Reason), ": ")}
}

// temporalQuestions uses the activity's own Temporal client.
type temporalQuestions struct{ client client.Client }

func (d temporalQuestions) Ask(ctx context.Context, workflowID, runID string, q contract.QuestionSignal) error {
	return d.client.SignalWorkflow(ctx, workflowID, runID, contract.SignalQuestion, q)
}

func (d temporalQuestions) Answer(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	var r contract.ApprovalResult
	err := d.client.GetWorkflow(ctx, contract.ApprovalWorkflowID(uuid), "").Get(ctx, &r)
	var missing *serviceerror.NotFound
	var ended *temporal.WorkflowExecutionError
	switch {
	case errors.As(err, &missing):
		return r, ErrNotAsked
	case errors.As(err, &ended): // the operator has terminated the approval
		return contract.ApprovalResult{Decision: contract.Cancelled}, nil
	}
	return r, err
}
