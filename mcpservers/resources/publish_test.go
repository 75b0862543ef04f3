package resources_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/resources"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestDeclaredCapabilitiesAreImplemented(t *testing.T) {
	got, _ := json.Marshal(dial(t, newSite(t, quiet())).GetServerCapabilities())
	var capabilities map[string]any
	_ = json.Unmarshal(got, &capabilities)
	want := map[string]any{
		"tools": args{}, "prompts": args{}, "resources": args{"subscribe": true, "listChanged": true},
		"experimental": args{hosting.IdempotencyCapability: args{}},
	}
	if diff := cmp.Diff(want, capabilities); diff != "" {
		t.Error(diff)
	}
}

func TestEveryRowIsAResource(t *testing.T) {
	c := inProcess(t)
	b, a := add(t, c, "b", 7), add(t, c, "a", 1)
	listed, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range listed.Resources {
		got = append(got, r.URI+" "+r.Name+" "+r.Description+" "+r.MIMEType)
	}
	want := []string{
		"resource://" + a.ID + " a The number 1 application/json",
		"resource://" + b.ID + " b The number 7 application/json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(b, read(t, c, "resource://"+b.ID)); diff != "" {
		t.Error(diff)
	}
}

func read(t *testing.T, c *client.Client, uri string) (r resources.Resource) {
	t.Helper()
	result, err := c.ReadResource(t.Context(), mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
	if err != nil {
		t.Fatal(err)
	}
	text := result.Contents[0].(mcp.TextResourceContents)
	if text.URI != uri || text.MIMEType != "application/json" {
		t.Errorf("got %+v", text)
	}
	if err := json.Unmarshal([]byte(text.Text), &r); err != nil {
		t.Error(err)
	}
	return r
}

func TestATemplateLeadsToARow(t *testing.T) {
	listed, err := inProcess(t).ListResourceTemplates(t.Context(), mcp.ListResourceTemplatesRequest{})
	if err != nil || len(listed.ResourceTemplates) != 1 || listed.ResourceTemplates[0].URITemplate.Raw() != "resource://{id}" {
		t.Errorf("%+v, %v", listed, err)
	}
}

func TestMissingResourcesCannotBeRead(t *testing.T) {
	c := inProcess(t)
	for _, uri := range []string{"resource://1", "resource://", "resource://1/2", "other://1"} {
		_, err := c.ReadResource(t.Context(), mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
		if !errors.Is(err, mcp.ErrResourceNotFound) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestPagesHoldEveryRowOnceAlsoWithEqualNames(t *testing.T) {
	store, path := openStore(t)
	exec(t, path, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1203)
		INSERT INTO resources SELECT i, 'r' || (i % 2), i, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z' FROM n`)
	c, err := client.NewInProcessClient(resources.NewServer(store, quiet()))
	if err != nil {
		t.Fatal(err)
	}
	handshake(t, c)
	seen, pages := map[string]bool{}, 0
	for request := (mcp.ListResourcesRequest{}); ; pages++ {
		page, err := c.ListResourcesByPage(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Resources {
			seen[r.URI] = true
		}
		if request.Params.Cursor = page.NextCursor; page.NextCursor == "" {
			break
		}
	}
	if len(seen) != 1203 || pages != 2 {
		t.Errorf("%d resources on %d pages and the last", len(seen), pages)
	}
}

func TestChangesNotifySubscribers(t *testing.T) {
	url := newSite(t, quiet())
	//lint:ignore SA1019 clients of protocol 2025-11-25 do this
	watcher, worker := dial(t, url, transport.WithContinuousListening()), dial(t, url)
	messages := make(chan string, 100)
	watcher.OnNotification(func(n mcp.JSONRPCNotification) {
		messages <- strings.TrimSpace(fmt.Sprint(strings.TrimPrefix(n.Method, "notifications/resources/"), " ", n.Params.AdditionalFields["uri"]))
	})
	kept, gone := add(t, worker, "kept", 1), add(t, worker, "gone", 2)
	for _, id := range []string{kept.ID, gone.ID} {
		//lint:ignore SA1019 clients of protocol 2025-11-25 do this
		if err := watcher.Subscribe(t.Context(), mcp.SubscribeRequest{Params: mcp.SubscribeParams{URI: "resource://" + id}}); err != nil {
			t.Fatal(err)
		}
	}
	do[resources.RemoveResult](t, worker, "resources_remove", args{"id": gone.ID})
	do[resources.RemoveResult](t, worker, "resources_remove", args{"id": gone.ID}) // changes nothing
	do[resources.ListResult](t, worker, "resources_list", nil)
	add(t, worker, "new", 3)
	for _, want := range []string{"list_changed <nil>", "list_changed <nil>", "updated resource://" + gone.ID, "list_changed <nil>", "list_changed <nil>"} {
		if got := <-messages; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func prompt(ctx context.Context, t *testing.T, c *client.Client, name string, arguments map[string]string) (string, error) {
	t.Helper()
	result, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: name, Arguments: arguments}})
	if err != nil {
		return "", err
	}
	if len(result.Messages) != 1 || result.Messages[0].Role != mcp.RoleUser {
		t.Errorf("got %+v", result.Messages)
	}
	return result.Messages[0].Content.(mcp.TextContent).Text, nil
}

func TestPromptsCarryTheTaskAndTheData(t *testing.T) {
	c := inProcess(t)
	add(t, c, "web-1", 41)
	add(t, c, "db-1", 42)
	for _, test := range []struct {
		name      string
		arguments map[string]string
		want      []string
		unwanted  string
	}{
		{"summarize-resources", nil, []string{"the sum", `"web-1"`, `"db-1"`}, "Answer this first"},
		{"summarize-resources", map[string]string{"pattern": "^web", "question": "which is over 40?"}, []string{"which is over 40?", `"web-1"`}, "db-1"},
		{"tidy-resources", nil, []string{"keep the newest", "ask me before", `"db-1"`}, ""},
		{"tidy-resources", map[string]string{"keep": "oldest"}, []string{"keep the oldest"}, ""},
	} {
		text, err := prompt(t.Context(), t, c, test.name, test.arguments)
		if err != nil {
			t.Errorf("%s %v: %v", test.name, test.arguments, err)
		}
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s %v: no %q in %s", test.name, test.arguments, want, text)
			}
		}
		if test.unwanted != "" && strings.Contains(text, test.unwanted) {
			t.Errorf("%s %v: %q in %s", test.name, test.arguments, test.unwanted, text)
		}
	}
}

func TestPromptsRefuseWhatTheyCannotDo(t *testing.T) {
	c := inProcess(t)
	for want, arguments := range map[string]map[string]string{"invalid pattern": {"pattern": "("}, `keep is "all"`: {"keep": "all"}} {
		if _, err := prompt(t.Context(), t, c, "tidy-resources", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", arguments, err)
		}
	}
}

func TestOutputSchemasAreExact(t *testing.T) {
	listed, err := inProcess(t).ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(listed); strings.Contains(string(text), `"null"`) {
		t.Errorf("a result may be null: %s", text)
	}
}
