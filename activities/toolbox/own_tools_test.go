package toolbox_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

func TestResourcesAndPromptsAreReadThroughToolsOfOurOwn(t *testing.T) {
	open, shut := serve(t, newHost()).server("open"), serve(t, newMCP(nil)).server("shut")
	open.ExposeResources, open.ExposePrompts, open.Allow, shut.Allow = true, true, []string{}, []string{}
	box := openServers(t, open, shut)
	tools := box.Tools(t.Context())
	if names(tools) != "read_resource get_prompt" || tools[0].DestructiveHint || !strings.Contains(string(tools[0].InputSchema), `"enum":["open"]`) {
		t.Fatalf("got %+v", tools)
	}
	tests := []struct{ tool, args, want string }{
		{"read_resource", `{"server":"open"}`, "note://0 · note 0 · text/plain\n"},
		{"read_resource", `{"server":"open"}`, "\nnote://{n} · a note"},
		{"read_resource", `{"server":"open","uri":"note://2"}`, "text of note 2\n"},
		{"get_prompt", `{"server":"open"}`, "greet0 · arguments who (required) · Greets.\n"},
		{"get_prompt", `{"server":"open","name":"greet1","arguments":{"who":"Ada"}}`, "user: Greet Ada."},
	}
	for _, tt := range tests {
		args, problem := box.Check(context.Background(), tt.tool, []byte(tt.args))
		if problem != "" {
			t.Errorf("%s: %s", tt.args, problem)
		}
		if got := mustCall(t, box, toolbox.Call{Tool: tt.tool, Arguments: args}); !strings.Contains(got.Text, tt.want) {
			t.Errorf("%s %s: got %q, want %q in it", tt.tool, tt.args, got.Text, tt.want)
		}
	}
	for _, args := range []string{`{"server":"shut"}`, `{"uri":"note://1"}`, `{"server":"open","url":"x"}`} {
		if _, problem := box.Check(context.Background(), "read_resource", []byte(args)); problem == "" {
			t.Errorf("%s was accepted", args)
		}
	}
	for tool, args := range map[string]string{"read_resource": `{"server":"shut"}`, "get_prompt": `{"server":"nobody"}`, "other": `{}`} {
		_, err := box.Call(t.Context(), toolbox.Call{Tool: tool, Arguments: []byte(args)})
		wantKind(t, err, contract.KindToolFailed)
	}
}

func TestOurOwnToolsNameTheServersThatHaveWhatTheyAreFor(t *testing.T) {
	has, lacks, down := serve(t, newHost()).server("has"), serve(t, newMCP(nil)).server("lacks"), newSite(t).server("down")
	for _, s := range []*toolbox.Server{&has, &lacks, &down} {
		s.ExposePrompts, s.Allow = true, []string{}
	}
	for _, tt := range []struct {
		servers     []toolbox.Server
		names, enum string
	}{
		{[]toolbox.Server{has, lacks, down}, "get_prompt", `"enum":["has","down"]`},
		{[]toolbox.Server{lacks}, "", ""},
	} {
		box := openServers(t, tt.servers...)
		tools := box.Tools(t.Context())
		if names(tools) != tt.names || len(tools) > 0 && !strings.Contains(string(tools[0].InputSchema), tt.enum) {
			t.Errorf("got %+v", tools)
		}
		if got := mustCall(t, box, toolbox.Call{Tool: "get_prompt", Arguments: []byte(`{"server":"lacks"}`)}); got.Text != "There are none." {
			t.Errorf("got %+v", got)
		}
		_, err := box.Call(t.Context(), toolbox.Call{Tool: "read_resource", Arguments: []byte(`{"server":"lacks"}`)})
		wantKind(t, err, contract.KindToolFailed)
	}
}

func TestAServerThatIsDownDoesNotHideTheResourcesOfOthers(t *testing.T) {
	box := openServers(t, newSite(t).server("dead"), serve(t, newHost()).server("web"))
	resources, err := box.Resources(t.Context())
	if len(resources) != 6 {
		t.Errorf("got %v", resources)
	}
	wantKind(t, err, contract.KindToolUnavailable)
	if err == nil || !strings.Contains(err.Error(), "resources/list on dead") {
		t.Errorf("got %v", err)
	}
	failures := toolbox.Failures(err)
	if len(failures) != 1 || failures[0].Server != "dead" || !strings.HasPrefix(failures[0].Reason(), "not connected: ") {
		t.Errorf("got %v", failures)
	}
	if got := toolbox.Failures(nil); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestAServerThatIsSilentDoesNotHoldTheListUp(t *testing.T) {
	silent := newSite(t)
	stuck := make(chan struct{})
	defer close(stuck)
	silent.onRequest(func(w http.ResponseWriter, r *http.Request, body string) bool {
		return strings.Contains(body, `"resources/list"`) && hangUntil(stuck)(w, r, body)
	})
	silent.start(newHost())
	live := serve(t, newHost())
	for wait := time.Second; ; wait *= 4 { // until it is long enough for the other server to answer
		box := open(t, toolbox.Options{Servers: []toolbox.Server{silent.server("silent"), live.server("web")}, FirstWait: wait})
		box.Tools(t.Context())
		resources, err := box.Resources(t.Context())
		failures := toolbox.Failures(err)
		if len(resources) == 6 && len(failures) == 1 && strings.Contains(failures[0].Reason(), fmt.Sprintf("no answer within %s", wait)) {
			return
		}
		if wait > patience/4 {
			t.Fatalf("got %v, %v", resources, err)
		}
	}
}

func TestSecretsOfAServerAreNotInItsLists(t *testing.T) {
	const secret = "canary-0123456789"
	m := newMCP(nil, server.WithResourceCapabilities(false, false), server.WithPromptCapabilities(false))
	m.AddResource(mcp.NewResource("note://1?key="+secret, "n"), nil)
	m.AddPrompt(mcp.NewPrompt("p", mcp.WithPromptDescription(secret)), nil)
	s := serve(t, m).server("web")
	s.Headers = map[string]string{"Authorization": "Bearer " + secret}
	box := openServers(t, s)
	resources, err := box.Resources(t.Context())
	if err != nil || len(resources) != 1 || resources[0].URI != "note://1?key=[secret]" {
		t.Errorf("got %+v, %v", resources, err)
	}
	prompts, err := box.Prompts(t.Context())
	if err != nil || len(prompts) != 1 || prompts[0].Description != "[secret]" {
		t.Errorf("got %+v, %v", prompts, err)
	}
}

func TestResourcesOfAServerThatWantsAToken(t *testing.T) {
	place := newSite(t)
	place.onRequest(wantToken("canary", everything))
	place.start(newHost())
	s := place.server("web")
	s.ExposeResources = true
	box := openServers(t, s)
	if got, err := box.ReadResource(t.Context(), toolbox.Access{Server: "web"}, "note://1"); err != nil || !asksForLogin(got) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err := box.ReadResource(t.Context(), toolbox.Access{Server: "web", Bearer: "canary"}, "note://1")
	if err != nil || !strings.HasPrefix(got.Text, "text of note 1") {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := mustCall(t, box, toolbox.Call{Tool: "read_resource", Arguments: []byte(`{"server":"web"}`), Bearer: "canary"}); !strings.Contains(got.Text, "note://1") {
		t.Errorf("got %+v", got)
	}
	if got := mustCall(t, box, toolbox.Call{Tool: "read_resource", Arguments: []byte(`{"server":"web"}`)}); !asksForLogin(got) {
		t.Errorf("got %+v", got)
	}
	_, err = box.Resources(t.Context())
	if err == nil || !strings.Contains(err.Error(), "authentication is required") {
		t.Errorf("got %v", err)
	}
}
