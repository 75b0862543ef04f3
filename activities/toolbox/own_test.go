package toolbox_test

import (
	"strings"
	"testing"

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
		args, problem := box.Check(tt.tool, []byte(tt.args))
		if problem != "" {
			t.Errorf("%s: %s", tt.args, problem)
		}
		if got := mustCall(t, box, toolbox.Call{Tool: tt.tool, Arguments: args}); !strings.Contains(got.Text, tt.want) {
			t.Errorf("%s %s: got %q, want %q in it", tt.tool, tt.args, got.Text, tt.want)
		}
	}
	for _, args := range []string{`{"server":"shut"}`, `{"uri":"note://1"}`, `{"server":"open","url":"x"}`} {
		if _, problem := box.Check("read_resource", []byte(args)); problem == "" {
			t.Errorf("%s was accepted", args)
		}
	}
	for tool, args := range map[string]string{"read_resource": `{"server":"shut"}`, "get_prompt": `{"server":"nobody"}`, "other": `{}`} {
		_, err := box.Call(t.Context(), toolbox.Call{Tool: tool, Arguments: []byte(args)})
		wantKind(t, err, contract.KindToolFailed)
	}
}

func TestOurOwnToolsAreAsExposed(t *testing.T) {
	s := serve(t, newMCP(nil)).server("web")
	s.ExposePrompts, s.Allow = true, []string{}
	box := openServers(t, s)
	if got := names(box.Tools(t.Context())); got != "get_prompt" {
		t.Errorf("got %q", got)
	}
	if got := mustCall(t, box, toolbox.Call{Tool: "get_prompt", Arguments: []byte(`{"server":"web"}`)}); got.Text != "There are none." {
		t.Errorf("got %+v", got)
	}
	_, err := box.Call(t.Context(), toolbox.Call{Tool: "read_resource", Arguments: []byte(`{"server":"web"}`)})
	wantKind(t, err, contract.KindToolFailed)
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
}

func TestResourcesOfAServerThatWantsAToken(t *testing.T) {
	place := newSite(t)
	place.onRequest(wantToken("canary", everything))
	place.start(newHost())
	s := place.server("web")
	s.ExposeResources = true
	box := openServers(t, s)
	if got, err := box.ReadResource(t.Context(), toolbox.Access{Server: "web"}, "note://1"); err != nil || !same(got, pleaseLogIn) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err := box.ReadResource(t.Context(), toolbox.Access{Server: "web", Bearer: "canary"}, "note://1")
	if err != nil || !strings.HasPrefix(got.Text, "text of note 1") {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := mustCall(t, box, toolbox.Call{Tool: "read_resource", Arguments: []byte(`{"server":"web"}`), Bearer: "canary"}); !strings.Contains(got.Text, "note://1") {
		t.Errorf("got %+v", got)
	}
	if got := mustCall(t, box, toolbox.Call{Tool: "read_resource", Arguments: []byte(`{"server":"web"}`)}); !same(got, pleaseLogIn) {
		t.Errorf("got %+v", got)
	}
	_, err = box.Resources(t.Context())
	if err == nil || !strings.Contains(err.Error(), "authentication is required") {
		t.Errorf("got %v", err)
	}
}
