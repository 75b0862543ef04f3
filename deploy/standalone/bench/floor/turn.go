package floor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// turn is a workflow: model, perhaps a decision, tool, model.
func (f *floor) turn(ctx workflow.Context, approval bool) (string, error) {
	asked := false
	err := workflow.SetUpdateHandler(ctx, askedUpdate, func(ctx workflow.Context) error {
		return workflow.Await(ctx, func() bool { return asked })
	})
	if err != nil {
		return "", err
	}
	if _, err := call(ctx, f.localModel, askModel, "user"); err != nil {
		return "", err
	}
	if approval {
		asked = true
		workflow.GetSignalChannel(ctx, decideSignal).Receive(ctx, nil)
	}
	if _, err := call(ctx, f.localTool, useTool); err != nil {
		return "", err
	}
	return call(ctx, f.localModel, askModel, "tool")
}

// once lets the error of a call end the turn.
var once = &temporal.RetryPolicy{MaximumAttempts: 1}

func call(ctx workflow.Context, local bool, name string, args ...any) (out string, err error) {
	if local {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: once})
		err = workflow.ExecuteLocalActivity(ctx, name, args...).Get(ctx, &out)
	} else {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute, RetryPolicy: once})
		err = workflow.ExecuteActivity(ctx, name, args...).Get(ctx, &out)
	}
	return out, err
}

// ask asks the model, with a last message of the given role.
func (f *floor) ask(ctx context.Context, role string) (string, error) {
	messages := `{"role":"system","content":"as told"},{"role":"user","content":"look"}`
	if role == "tool" {
		messages += `,{"role":"assistant","tool_calls":[{"id":"call","type":"function","function":{"name":"look","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"call","content":"ok"}`
	}
	body := `{"model":"bench","messages":[` + messages + `],"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{}}}}]}`
	req, err := http.NewRequestWithContext(ctx, "POST", f.model+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer bench")
	res, err := connections.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var reply struct {
		Choices []struct{ Message json.RawMessage }
	}
	data, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(data, &reply)
	}
	if err != nil {
		return "", fmt.Errorf("read the model's answer: %w", err)
	}
	if len(reply.Choices) == 0 {
		return "", fmt.Errorf("the model answered %s: %s", res.Status, data)
	}
	return string(reply.Choices[0].Message), nil
}

var connections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 500}}
