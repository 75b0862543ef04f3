package workflows

import (
	"encoding/json"
	"errors"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// readSignal parses an answer to a question from a "decide" signal. If the schema is not in
// history, an activity parses the answer.
func readSignal(ctx workflow.Context, raw json.RawMessage, schema contract.JSON) (contract.DecideSignal, error) {
	if schema.Blob != nil {
		return readAnswer(ctx, contract.ReadAnswerInput{Schema: schema, Signal: string(raw)})
	}
	given, err := answer.ParseQuestion(raw, schema.Raw)
	return given.Signal(), err
}

// readText is readSignal for an answer that came as a message.
func readText(ctx workflow.Context, text string, schema contract.JSON) (contract.DecideSignal, error) {
	if schema.Blob != nil {
		return readAnswer(ctx, contract.ReadAnswerInput{Schema: schema, Message: text})
	}
	given, err := answer.ParseText(text, schema.Raw)
	return given.Signal(), err
}

func readAnswer(ctx workflow.Context, in contract.ReadAnswerInput) (contract.DecideSignal, error) {
	o := activity.LocalOptions(composeTimeout, wording.SummaryReadAnswer)
	o.ScheduleToCloseTimeout = 2 * composeTimeout
	r, err := activity.RunLocal(ctx, contract.ActivityReadAnswer, o, in)
	switch {
	case err != nil:
		return r.Answer, errors.New(wording.UnreadAnswer(activity.Failure(err)))
	case r.Problem != "":
		return r.Answer, errors.New(r.Problem)
	}
	return r.Answer, nil
}
