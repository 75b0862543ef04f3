package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/mcp"
)

var down = contract.ServerState{Name: "files", Error: "not connected: connection refused"}

func someResources() (contract.ResourceCatalogue, error) {
	return contract.ResourceCatalogue{
		Resources: []mcp.Resource{
			{Server: "resources", URI: "resource://1", Name: "web-1", Title: "Web", Description: "One", MIMEType: "text/plain", Size: 4},
			{Server: "notes", URI: "note://1", Name: "n"},
		},
		Templates: []mcp.ResourceTemplate{{Server: "notes", URITemplate: "note://{n}", Name: "note"}},
		Servers:   []contract.ServerState{down},
	}, nil
}

func somePrompts() (contract.PromptCatalogue, error) {
	return contract.PromptCatalogue{
		Prompts: []mcp.Prompt{
			{Server: "notes", Name: "greet", Arguments: []mcp.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}},
			{Server: "notes", Name: "part", Title: "Part", Description: "Says goodbye.", Arguments: []mcp.PromptArgument{}},
		},
		Servers: []contract.ServerState{down},
	}, nil
}

const (
	resourcesBody = `{"resources":[` +
		`{"server":"resources","uri":"resource://1","name":"web-1","title":"Web","description":"One","mimeType":"text/plain","size":4},` +
		`{"server":"notes","uri":"note://1","name":"n"}],` +
		`"templates":[{"server":"notes","uriTemplate":"note://{n}","name":"note"}],` +
		`"servers":[{"name":"files","ready":false,"error":"not connected: connection refused","tools":0}]}` + "\n"
	promptsBody = `{"prompts":[` +
		`{"server":"notes","name":"greet","arguments":[{"name":"who","required":true},{"name":"how"}]},` +
		`{"server":"notes","name":"part","title":"Part","description":"Says goodbye.","arguments":[]}],` +
		`"servers":[{"name":"files","ready":false,"error":"not connected: connection refused","tools":0}]}` + "\n"
)

func TestResourcesAndPromptsOfAllServersAreListed(t *testing.T) {
	a := newAPI(t, &fakeBackend{ResourcesFn: someResources, PromptsFn: somePrompts})
	for path, want := range map[string]string{"/mcp/resources": resourcesBody, "/mcp/prompts": promptsBody} {
		if got := a.want(200, a.do("GET", path, "")).raw; got != want {
			t.Errorf("%s: got\n%sexpected\n%s", path, got, want)
		}
	}
}

func TestServersWithoutResourcesAndPrompts(t *testing.T) {
	a := newAPI(t, &fakeBackend{
		ResourcesFn: func() (c contract.ResourceCatalogue, err error) { return c, nil },
		PromptsFn:   func() (c contract.PromptCatalogue, err error) { return c, nil },
	})
	for path, want := range map[string]string{
		"/mcp/resources": `{"resources":[],"templates":[],"servers":[]}`, "/mcp/prompts": `{"prompts":[],"servers":[]}`,
	} {
		if got := a.want(200, a.do("GET", path, "")).raw; got != want+"\n" {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestResourcesThatCannotBeListed(t *testing.T) {
	a := newAPI(t, &fakeBackend{
		PromptsFn: func() (c contract.PromptCatalogue, err error) {
			return c, service.Errorf(service.KindUnavailable, "nobody is there")
		},
	})
	a.wantError(500, "internal", a.do("GET", "/mcp/resources", ""))
	if reply := a.do("GET", "/mcp/prompts", ""); reply.header.Get("Retry-After") != "1" {
		t.Error("no Retry-After")
	} else {
		a.wantError(503, "nobody is there", reply)
	}
	a.backend.ResourcesFn = someResources // a failure is not kept
	a.want(200, a.do("GET", "/mcp/resources", ""))
}

func TestResourcesAreAskedForAtMostEveryFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		a := newAPI(t, &fakeBackend{ResourcesFn: func() (contract.ResourceCatalogue, error) { asked++; return someResources() }})
		for range 3 {
			a.want(200, a.do("GET", "/mcp/resources", ""))
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		time.Sleep(6 * time.Second)
		a.want(200, a.do("GET", "/mcp/resources", "")) // stale, and refreshed
		synctest.Wait()
		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
		a.Close()
	})
}

// listing is a client whose workflow lists what it is asked for.
func listing(t *testing.T, result func(contract.CatalogueKind) fakeRun) *fakeClient {
	return &fakeClient{ExecuteFn: func(o client.StartWorkflowOptions, workflow any, args []any) (client.WorkflowRun, error) {
		want := args[0].(contract.ListToolsInput).Kind
		if workflow != "Catalogue" || !strings.HasPrefix(o.ID, "catalogue-") || !strings.HasSuffix(o.ID, fmt.Sprintf("-%s-queue-1", want)) ||
			!strings.HasSuffix(o.StaticSummary, " · "+string(want)) || o.WorkflowRunTimeout == 0 ||
			o.WorkflowIDConflictPolicy != enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING {
			t.Errorf("%v with %+v", workflow, o)
		}
		return result(want), nil
	}}
}

func TestResourcesAndPromptsAreResultsOfWorkflows(t *testing.T) {
	var a *api
	a = onTemporal(t, listing(t, func(want contract.CatalogueKind) fakeRun {
		if want == contract.WantResources {
			list, _ := someResources()
			return fakeRun{encoded: encoded{value: map[string]any{"body": list}}}
		}
		list, _ := somePrompts()
		data, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.blobs.Put(t.Context(), data) // as long lists are
		return fakeRun{encoded: encoded{value: contract.CatalogueResult{Body: contract.JSON{Blob: &b}}, err: err}}
	}))
	for path, want := range map[string]string{"/mcp/resources": resourcesBody, "/mcp/prompts": promptsBody} {
		if got := a.want(200, a.do("GET", path, "")).raw; got != want {
			t.Errorf("%s: got\n%sexpected\n%s", path, got, want)
		}
	}
}

func TestErrorsOfListingResources(t *testing.T) {
	tools := map[string]any{"body": map[string]any{"tools": []any{}, "servers": []any{}, "model": map[string]any{"name": "m"}}}
	for _, c := range []struct {
		run    encoded
		status int
		text   string
	}{
		{encoded{err: context.DeadlineExceeded}, 503, "no worker is answering on task queue queue-1"},
		{encoded{err: &temporal.WorkflowExecutionError{}}, 503, "the worker could not list its %s"},
		{encoded{value: tools}, 503, "no worker answers that lists %s: those that run are of an older version"},
		{encoded{value: map[string]any{"body": contract.NewBlob([]byte("never stored"))}}, 500, "(12 bytes) is lost"},
	} {
		a := onTemporal(t, listing(t, func(contract.CatalogueKind) fakeRun { return fakeRun{encoded: c.run} }))
		for _, what := range []string{"resources", "prompts"} {
			a.wantError(c.status, strings.ReplaceAll(c.text, "%s", what), a.do("GET", "/mcp/"+what, ""))
		}
	}
}

func TestToolsSayWhetherTheyNeedApproval(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Tools: []contract.Tool{
			{Name: "add", Server: "r", InputSchema: []byte(`{}`), DestructiveHint: true, Approval: &contract.ToolApproval{Asks: true, Because: contract.GroundNoHint}},
			{Name: "old", Server: "r", InputSchema: []byte(`{}`)},
		}}, nil
	}})
	reply := a.want(200, a.do("GET", "/tools", ""))
	want := `"tools":[{"name":"add","description":"","inputSchema":{},"destructiveHint":true,"server":"r","approval":{"asks":true,"because":"no_hint"}},` +
		`{"name":"old","description":"","inputSchema":{},"server":"r"}]`
	if !strings.Contains(reply.raw, want) {
		t.Error(reply.raw)
	}
}

func TestToolsHaveTheAgentsToDelegateTo(t *testing.T) {
	catalogue := func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Tools: []contract.Tool{
			{Name: "a2a_helper", Server: "r", InputSchema: []byte(`{}`)}, {Name: "add", Server: "r", InputSchema: []byte(`{}`)},
		}}, nil
	}
	helper := contract.Peer{Name: "helper", URL: "http://h", Description: "Helps."}
	payer := contract.Peer{Name: "payer", URL: "http://p", Destructive: true}
	carefulHelper := helper
	carefulHelper.Destructive = true
	tree := contract.Node{Name: "t", Type: contract.NodeSequential, Nodes: []contract.Node{
		{Name: "a", Type: contract.NodeLLM, Peers: []contract.Peer{helper}},
		{Name: "b", Type: contract.NodeLLM, Peers: []contract.Peer{carefulHelper}},
		{Name: "payer", Type: contract.NodeA2A, Peer: &payer},
	}}
	tests := map[string]struct {
		agent contract.Agent
		want  map[string]bool
	}{
		"a lone agent":       {contract.Agent{Name: "x", Peers: []contract.Peer{helper, payer}}, map[string]bool{"a2a_helper": false, "a2a_payer": true}},
		"some nodes of many": {contract.Agent{Name: "x", Tree: &tree}, map[string]bool{"a2a_helper": true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, &fakeBackend{CatalogueFn: catalogue}, func(d *gateway.Deps) { d.Agent = tt.agent })
			got := map[string]bool{}
			for _, item := range a.want(200, a.do("GET", "/tools", "")).at("tools").([]any) {
				tool := reply{body: item.(map[string]any)}
				if tool.text("name") == "add" {
					continue
				}
				if _, again := got[tool.text("name")]; again || tool.at("server") != nil || tool.text("approval", "because") != "setting" {
					t.Errorf("got %v", item)
				}
				got[tool.text("name")] = tool.at("approval", "asks").(bool)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
