package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/llm/llmtest"
)

const canaryToken = "canary-token-8c2a-do-not-leak"

// A caller's token reaches the tool, also after an approval and a restart, and
// can be read nowhere.
func TestNoSecretIsReadableAnywhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.model.RequireKey(canaryKey)
	api, agent := h.outside()
	auth := "Authorization: Bearer " + canaryToken
	var seen strings.Builder // all responses of the agent
	asked := api.do("POST", "/conversations", messageJSON(`call note_add {"name":"x"}`), auth, "X-Session-ID: session-7")
	seen.WriteString(asked.Raw)
	uuid := asked.Body.Result.Approval.UUID
	h.model.Reply(llmtest.Fail(401, "Incorrect API key provided: "+canaryKey))
	seen.WriteString(api.do("POST", "/conversations", messageJSON("fails"), auth).Raw)
	seen.WriteString(api.do("POST", "/conversations", `{"message":`, auth).Raw)
	seen.WriteString(api.do("GET", "/tools", "", auth).Raw)
	first := agent.out
	agent.kill()

	api, agent = h.outside()
	decided := api.do("POST", "/approvals/"+uuid, `{"approved":true}`) // without a token
	seen.WriteString(decided.Raw)
	calls := h.tools.called("note_add")
	if len(calls) != 1 || calls[0].Auth != "Bearer "+canaryToken || calls[0].Session != "session-7" {
		t.Fatalf("the tool was called with %+v", calls)
	}
	seen.WriteString(api.do("GET", "/conversations?include=messages", "").Raw)
	histories := dump(t, h.dial())
	if len(histories) < 3 {
		t.Fatalf("only %d histories were dumped", len(histories))
	}
	if err := agent.terminate(); err != nil {
		t.Fatal(err)
	}
	places := map[string][]byte{
		"answers": []byte(seen.String()), "log": []byte(first.String() + agent.out.String()),
	}
	for name, data := range histories {
		places["history of "+name] = data
	}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		places[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for place, data := range places {
		for _, secret := range []string{canaryToken, canaryKey} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %s", place, secret)
			}
		}
	}
}

// dump returns the history of every workflow as JSON, by workflow ID.
func dump(t *testing.T, c client.Client) map[string][]byte {
	t.Helper()
	ctx := context.Background()
	list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range list.GetExecutions() {
		id, run := e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId()
		var events []any
		it := c.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for it.HasNext() {
			event, err := it.Next()
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, readable(event))
		}
		data, err := json.Marshal(events)
		if err != nil {
			t.Fatal(err)
		}
		out[id] = data
	}
	return out
}
