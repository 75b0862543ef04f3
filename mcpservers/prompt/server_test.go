package prompt_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/lint"
	"agent-stop-and-go/mcpservers/prompt"
	"agent-stop-and-go/mcpservers/prompt/sections"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func connect(t *testing.T, s *prompt.Store) *client.Client {
	t.Helper()
	c, err := client.NewInProcessClient(prompt.NewServer(s, slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25"
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return c
}

// call returns the text of a result, and whether it is an error.
func call(t *testing.T, c *client.Client, name string, args any, meta map[string]any, out any) (string, bool) {
	t.Helper()
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = name, args
	if meta != nil {
		r.Params.Meta = mcp.NewMetaFromMap(meta)
	}
	result, err := c.CallTool(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if out != nil && !result.IsError {
		data, err := json.Marshal(result.StructuredContent)
		if err == nil {
			err = json.Unmarshal(data, out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return result.Content[0].(mcp.TextContent).Text, result.IsError
}

func TestAModelReadsAndChangesThePrompt(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	c := connect(t, s)
	var now sections.Reading
	shown, _ := call(t, c, "read_prompt", map[string]any{}, nil, &now)
	if now.Version != 1 || len(now.Sections) != 3 || now.Sections[1].Base != "" || !strings.Contains(shown, "[0] tone: How to write (base "+now.Sections[0].Base+")") || !strings.HasSuffix(shown, "\n\n"+now.Text) {
		t.Errorf("%+v\n%s", now, shown)
	}
	if shown, _ := call(t, c, "read_prompt", map[string]any{"section": "db"}, nil, nil); !strings.HasSuffix(shown, "\n\nRead first.\n") {
		t.Error(shown)
	}
	args := map[string]any{"section": "tone", "operation": "append", "content": "Be kind.", "base": now.Sections[0].Base}
	var preview prompt.Preview
	call(t, c, "prompt_preview", map[string]any{"tool": "update_prompt", "arguments": args}, nil, &preview)
	var change prompt.Change
	for range 2 {
		if shown, failed := call(t, c, "update_prompt", args, map[string]any{hosting.IdempotencyKey: "k", prompt.MetaBy: "alice"}, &change); failed || change.Version != 2 || !strings.Contains(shown, change.Diff) {
			t.Errorf("%+v %s", change, shown)
		}
	}
	if preview.Text != change.Diff || !strings.Contains(change.Diff, "+Be kind.") {
		t.Errorf("the preview was %s, and the change is %s", preview.Text, change.Diff)
	}
	if shown, failed := call(t, c, "update_prompt", args, nil, nil); !failed || !strings.Contains(shown, "changed meanwhile") {
		t.Error(shown)
	}
	call(t, c, "prompt_preview", map[string]any{"tool": "update_prompt", "arguments": args}, nil, &preview)
	if !strings.HasPrefix(preview.Text, "The call would be refused: the section tone is not") {
		t.Error(preview.Text)
	}
	call(t, c, "prompt_preview", map[string]any{"tool": "revert_prompt", "arguments": map[string]any{"version": 1, "base": baseOf(t, s, "")}}, nil, &preview)
	if !strings.Contains(preview.Text, "-Be kind.") {
		t.Error(preview.Text)
	}
	if shown, failed := call(t, c, "revert_prompt", map[string]any{"version": 1, "base": baseOf(t, s, "")}, nil, &change); failed || change.Version != 3 {
		t.Error(shown)
	}
	var history prompt.History
	if shown, _ := call(t, c, "prompt_history", map[string]any{}, nil, &history); len(history.Versions) != 3 || history.Versions[1].By != "alice" || !strings.Contains(shown, "append tone  by alice") {
		t.Error(shown)
	}
}

func TestTheWholePromptIsAResource(t *testing.T) {
	s := open(t, directory(t))
	c := connect(t, s)
	var r mcp.ReadResourceRequest
	r.Params.URI = prompt.URI
	result, err := c.ReadResource(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got := result.Contents[0].(mcp.TextResourceContents)
	about, _ := got.Meta[prompt.Meta].(map[string]any)
	if got.Text != "You help.\n\n## tone: How to write\nBe brief.\n\n## tools\n\n### db\nRead first.\n" || about["digest"] != baseOf(t, s, "") || about["version"] != float64(1) && about["version"] != 1 {
		t.Errorf("%+v", got)
	}
}

// Agents of other machines begin conversations with it.
func TestTheWholePromptIsAResourceForPrograms(t *testing.T) {
	s := open(t, directory(t))
	var r mcp.ReadResourceRequest
	r.Params.URI = sections.URI
	result, err := connect(t, s).ReadResource(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := sections.ParseReading([]byte(result.Contents[0].(mcp.TextResourceContents).Text))
	if err != nil || got.Version != 1 || got.Base != baseOf(t, s, "") || len(got.Sections) != 3 || got.Sections[0].Base != baseOf(t, s, "tone") || !strings.HasPrefix(got.Text, "You help.\n\n## tone") {
		t.Errorf("%v %+v", err, got)
	}
	for text, want := range map[string]string{
		"": "not a prompt", "{}": "the prompt is empty", `{"text":"\n"}`: "the prompt is empty", `{"text":"a","base":"b"}`: `the text is not what base "b" stands for`,
		`{"text":"` + strings.Repeat("a", sections.MaxBytes+1) + `"}`: "more than 262144 bytes",
	} {
		if _, err := sections.ParseReading([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", text, err, want)
		}
	}
}

func TestToolsSayWhatTheyDo(t *testing.T) {
	c := connect(t, open(t, directory(t)))
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		changes := tool.Name == "update_prompt" || tool.Name == "revert_prompt"
		if *tool.Annotations.DestructiveHint != changes || *tool.Annotations.ReadOnlyHint == changes {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
	if faults, err := lint.Server(t.Context(), c); err != nil || len(faults) > 0 {
		t.Errorf("%+v %v", faults, err)
	}
}
