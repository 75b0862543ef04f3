package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/recordtest"
)

// database starts a server whose tool tell says which table a statement writes, and counts its
// calls.
func database(t *testing.T, told *atomic.Int32) string {
	m := server.NewMCPServer("db", "1")
	yes, no := true, false
	m.AddTool(mcp.Tool{Name: "execute", InputSchema: mcp.ToolInputSchema{Type: "object"}, Annotations: mcp.ToolAnnotation{ReadOnlyHint: &no, DestructiveHint: &yes}}, nil)
	tell := mcp.Tool{Name: "tell", InputSchema: mcp.ToolInputSchema{Type: "object"}, Annotations: mcp.ToolAnnotation{ReadOnlyHint: &yes}}
	tell.Meta = &mcp.Meta{AdditionalFields: map[string]any{"agent-stop-and-go/facts": map[string]any{"name": "sql", "for": []string{"execute"}}}}
	m.AddTool(tell, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		told.Add(1)
		var in struct {
			Tool      string
			Arguments struct{ Table string }
		}
		raw, err := json.Marshal(r.GetArguments())
		if err == nil {
			err = json.Unmarshal(raw, &in)
		}
		if err != nil || in.Tool != "execute" || in.Arguments.Table == "locked" {
			return mcp.NewToolResultError("no idea"), nil
		}
		return mcp.NewToolResultStructuredOnly(map[string]any{"class": "write", "writes": []string{in.Arguments.Table}}), nil
	})
	web := httptest.NewServer(server.NewStreamableHTTPServer(m))
	t.Cleanup(web.Close)
	return web.URL + "/mcp"
}

// A statement that writes orders is denied by what the server says of it, in the one activity that
// asks the model. The server is asked once, and only for what a rule is about.
func TestARuleReadsFactsOfTheServer(t *testing.T) {
	for table, want := range map[string]struct {
		verdict string
		asked   int32
	}{
		"Orders": {`deny no-orders {"sql":{"class":"write","writes":["Orders"]}}`, 1},
		"drafts": {`allow drafts {"sql":{"class":"write","writes":["drafts"]}}`, 1},
		"locked": {"ask no-orders ", 1},
		"temp":   {"<nil>", 0},
	} {
		t.Run(table, func(t *testing.T) {
			var asked atomic.Int32
			model := llmtest.NewServer()
			t.Cleanup(model.Close)
			model.Reply(llmtest.CallTools("", llm.Call{ID: "1", Name: "execute", Arguments: json.RawMessage(fmt.Sprintf(`{"table":%q}`, table))}))
			c, err := config.Parse("agent.yaml", fmt.Appendf(nil, `
llm: {model: "openai:gpt-4o", base_url: %q}
mcp_servers: [{name: db, url: %q, facts: [sql]}]
approval:
  rules:
    - {name: no-orders, when: 'server == "db" && args.table != "temp" && sql.writes("orders")', then: {deny: ask the shop}}
    - {name: drafts, when: 'server == "db" && args.table == "drafts" && sql.class == "write"', then: allow}
`, model.URL(), database(t, &asked)))
			if err != nil {
				t.Fatal(err)
			}
			getenv := func(name string) string { return map[string]string{"OPENAI_API_KEY": "key"}[name] }
			a, release, err := worker.Assemble(t.Context(), c, worker.Parts{Getenv: getenv, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			a.Models.Blobs = recordtest.Store{}
			out, err := a.Models.Generate(t.Context(), contract.GenerateInput{
				ConversationID: contract.NameUUID("a", "b"), Model: "openai:gpt-4o",
				Transcript: contract.Transcript{Tail: []contract.Message{{ID: "m", Role: contract.RoleUser, Content: contract.Inline("hi")}}},
			})
			if err != nil || len(out.Calls) != 1 {
				t.Fatalf("%+v, %v", out, err)
			}
			got := "<nil>"
			if v := out.Calls[0].Verdict; v != nil {
				got = fmt.Sprintf("%s %s %s", v.Outcome, v.Rule, v.Facts)
				if table == "locked" && !strings.Contains(v.Text, "db: the facts are not known: no idea") {
					t.Errorf("the reason is %q", v.Text)
				}
			}
			if got != want.verdict || asked.Load() != want.asked {
				t.Errorf("%s after %d questions", got, asked.Load())
			}
		})
	}
}
