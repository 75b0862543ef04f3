package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
)

// journal is a buffer for a log that several goroutines write.
type journal struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *journal) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *journal) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// samplingServer starts a server whose tool asks the client's model.
func samplingServer(t *testing.T) string {
	m := server.NewMCPServer("thinker", "1")
	m.AddTool(mcp.NewTool("think"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if said, ok := server.InputResponse(r.Params.InputResponses, "it"); ok {
			text, err := json.Marshal(said)
			return mcp.NewToolResultText(string(text)), err
		}
		return server.NewInputRequestBuilder("state").Sample("it", mcp.CreateMessageParams{
			SystemPrompt: "Be brief.", MaxTokens: 500, ModelPreferences: &mcp.ModelPreferences{Hints: []mcp.ModelHint{{Name: "other"}}},
			Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent("What now?")}},
		}).ToolResult(), nil
	})
	web := httptest.NewServer(server.NewStreamableHTTPServer(m))
	t.Cleanup(web.Close)
	return web.URL + "/mcp"
}

// sampleOnce lets a server with the given settings ask the model of an agent.
func sampleOnce(t *testing.T, model *llmtest.Server, settings string) (toolbox.Result, *journal, error) {
	t.Helper()
	c, err := config.Parse("agent.yaml", fmt.Appendf(nil, `
llm: {model: "openai:gpt-4o", base_url: %q}
mcp_servers: [{name: thinker, url: %q%s}]
`, model.URL(), samplingServer(t), settings))
	if err != nil {
		t.Fatal(err)
	}
	log := &journal{}
	getenv := func(name string) string { return map[string]string{"OPENAI_API_KEY": "key"}[name] }
	a, release, err := worker.Assemble(t.Context(), c, worker.Parts{Getenv: getenv, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	r, err := a.Tools.Caller.Call(t.Context(), toolbox.Call{Server: "thinker", Tool: "think", Destructive: true})
	return r, log, err
}

func TestAServerWithSamplingAsksTheAgentsModel(t *testing.T) {
	model := llmtest.NewServer()
	defer model.Close()
	model.Reply(llmtest.Say("Rest."))
	r, log, err := sampleOnce(t, model, ", sampling: {max_tokens: 99}")
	if err != nil || r.IsError || !strings.Contains(r.Text, `"Rest."`) || !strings.Contains(r.Text, `"stopReason":"endTurn"`) {
		t.Fatalf("got %+v, %v", r, err)
	}
	const want = `{"messages":[{"content":"Be brief.","role":"system"},{"content":"What now?","role":"user"}],` +
		`"model":"gpt-4o","max_completion_tokens":99,"stream_options":{"include_usage":true},"stream":true}`
	if got := string(model.Requests()[0].Body); got != want {
		t.Errorf("asked %s, expected %s", got, want)
	}
	if !strings.Contains(log.String(), `level=INFO msg="MCP server asked the model" server=thinker model=openai:gpt-4o max_tokens=99 input_tokens=`) {
		t.Errorf("the log does not tell: %s", log)
	}
}

func TestAServerWithoutSamplingAsksNobody(t *testing.T) {
	model := llmtest.NewServer()
	defer model.Close()
	if r, _, err := sampleOnce(t, model, ""); err == nil || model.Served() != 0 {
		t.Errorf("got %+v, %v, and the model was asked %d times", r, err, model.Served())
	}
}
