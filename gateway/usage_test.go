package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const usageShown = `"usage":{"input_tokens":1200,"output_tokens":300,"cached_tokens":1000,"calls":2,"cost":0.0015}`

func usageSpent() contract.Usage {
	return contract.Usage{InputTokens: 1200, OutputTokens: 300, CachedTokens: 1000, Calls: 2, Cost: 1_500_000}
}

// accounted is a conversation with models and usage. Its last message has data for its
// provider only.
func accounted(id string) contract.ConversationView {
	v := viewOf(id)
	v.Usage = usageSpent()
	v.Transcript.Tail = []contract.Message{
		{ID: someUUID, Role: contract.RoleUser, Content: contract.Inline("hi"), CreatedAt: epoch},
		{ID: otherID, Role: contract.RoleAssistant, Content: contract.Inline("hello"), CreatedAt: epoch,
			Model: "gemini-2.5-flash", DraftID: "5b6c7d8e-9f0a-5b1c-8d2e-3f4a5b6c7d8e", Usage: usageSpent(),
			Native: &contract.Native{Provider: contract.ProviderAnthropic, Model: "own-name", Content: contract.JSON{Raw: []byte(`["canary"]`)}}},
	}
	return v
}

func TestMessagesShowTheirModelAndUsage(t *testing.T) {
	a := newAPI(t, &fakeBackend{ConversationFn: func(id, _ string) (contract.ConversationView, error) { return accounted(id), nil }})
	reply := a.want(200, a.do("GET", "/conversations/"+someID, ""))
	const want = `"model":"gemini-2.5-flash","draft":"5b6c7d8e-9f0a-5b1c-8d2e-3f4a5b6c7d8e",` + usageShown
	if strings.Count(reply.raw, want) != 1 || strings.Count(reply.raw, usageShown) != 2 {
		t.Error(reply.raw)
	}
}

func TestNodesShowTheirUsage(t *testing.T) {
	a := newAPI(t, &fakeBackend{TreeFn: func(id string) (contract.TreeView, error) {
		v := treeOf(id)
		v.State.Usage, v.State.Nodes[0].Usage = usageSpent(), usageSpent()
		return v, nil
	}})
	if reply := a.want(200, a.do("GET", treePath, "")); strings.Count(reply.raw, usageShown) != 2 {
		t.Error(reply.raw)
	}
}

func TestProviderDataIsInNoReply(t *testing.T) {
	var d desk
	b := d.backend()
	b.SignalFn = func(string, string, any) error { return nil }
	b.StartFn = func(service.StartInput) (service.StartResult, error) { return service.StartResult{}, nil }
	b.ListFn = func(service.ListQuery) (service.Page[service.Item], error) { return items(someID), nil }
	request := contract.Request{Settled: true, Result: &contract.Result{Response: contract.Inline("hello")}}
	b.ConversationFn = func(id, requestID string) (contract.ConversationView, error) {
		v := accounted(id)
		v.Request = &request
		v.Request.ID = requestID
		return v, nil
	}
	b.AwaitFn = func(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
		out, err := settling(request)(ctx, id, requestIDs)
		out.Conversation = accounted(id)
		return out, err
	}
	a := newAPI(t, b)
	check := func(status int, r reply) {
		t.Helper()
		a.want(status, r)
		if !strings.Contains(r.raw, "gemini-2.5-flash") {
			t.Errorf("no message is in %s", r.raw)
		}
		for _, secret := range []string{"native", "canary", "own-name", "anthropic"} {
			if strings.Contains(r.raw, secret) {
				t.Errorf("%s is in %s", secret, r.raw)
			}
		}
	}
	check(201, a.do("POST", "/conversations", `{"message":"hi"}`))
	check(200, a.do("POST", messages, `{"message":"hi"}`))
	check(200, a.do("POST", "/conversations/"+someID+"/cancel", `{}`))
	check(200, a.do("POST", "/conversations/"+someID+"/close", `{}`))
	check(200, a.do("GET", "/conversations/"+someID, ""))
	check(200, a.do("GET", "/conversations?include=messages", ""))
	check(200, a.do("GET", "/conversations/"+someID+"/requests/"+otherID, ""))
	check(200, a.do("POST", approvalPath, `{"approved":true}`))
	check(409, a.do("POST", approvalPath, `{"approved":true}`)) // decided already
	request.Refused = contract.KindWaiting
	check(409, a.do("POST", messages, `{"message":"hi"}`))
}

// recorded is the answer of a worker of an earlier version to the query.
const recorded = `{"id":"` + someID + `","status":"active","usage":{"input_tokens":10,"output_tokens":2},
  "created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z","version":3,"transcript":{"tail":[
  {"id":"` + otherID + `","role":"assistant","content":"hello","reply":"` + otherID + `","created_at":"2026-03-01T10:00:00Z"}]}}`

func TestAConversationOfAnEarlierVersion(t *testing.T) {
	a := onTemporal(t, &fakeClient{QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		return queried(json.RawMessage(recorded))
	}})
	got := a.want(200, a.do("GET", "/conversations/"+someID, "")).raw
	const want = `{"conversation":{"id":"` + someID + `","status":"active","messages":[{"id":"` + otherID + `","role":"assistant",` +
		`"content":"hello","created_at":"2026-03-01T10:00:00Z"}],"created_at":"2026-03-01T10:00:00Z",` +
		`"updated_at":"2026-03-01T10:00:00Z","usage":{"input_tokens":10,"output_tokens":2},"version":3}}` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
