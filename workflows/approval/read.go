package approval

import (
	"encoding/json"
	"errors"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// ViaMessage marks answers that came as a message.
const ViaMessage = "message"

// readTimeout is that of an attempt to read an answer: blob store only.
const readTimeout = 5 * time.Second

// readSignal parses an answer to a question from a "decide" signal. If the schema is not in
// history, an activity parses the answer.
func readSignal(ctx workflow.Context, raw json.RawMessage, schema contract.JSON) (contract.DecideSignal, error) {
	if schema.Blob != nil {
		return readAnswer(ctx, contract.ReadAnswerInput{Schema: schema, Signal: string(raw)})
	}
	given, err := answer.ParseQuestion(raw, schema.Raw)
	return given.Signal(), err
}

// ReadText is readSignal for an answer that came as a message.
func ReadText(ctx workflow.Context, text string, schema contract.JSON) (contract.DecideSignal, error) {
	if schema.Blob != nil {
		return readAnswer(ctx, contract.ReadAnswerInput{Schema: schema, Message: text})
	}
	given, err := answer.ParseText(text, schema.Raw)
	return given.Signal(), err
}

func readAnswer(ctx workflow.Context, in contract.ReadAnswerInput) (contract.DecideSignal, error) {
	o := activity.LocalOptions(readTimeout, wording.SummaryReadAnswer)
	o.ScheduleToCloseTimeout = 2 * readTimeout
	r, err := activity.RunLocal(ctx, contract.ActivityReadAnswer, o, in)
	switch {
	case err != nil:
		return r.Answer, errors.New(wording.UnreadAnswer(activity.Failure(err)))
	case r.Problem != "":
		return r.Answer, errors.New(r.Problem)
	}
	return r.Answer, nil
}
