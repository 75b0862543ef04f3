package toolbox_test

import (
	"context"
	"net/http"
	"testing"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// withBearer has one token for all servers.
func withBearer(ctx context.Context, token string) context.Context {
	return bearer.NewContext(ctx, bearer.NewTokens(func(context.Context, string) string { return token }))
}

func TestToolsOfAServerThatWantsAToken(t *testing.T) {
	place := newSite(t)
	place.onRequest(wantToken("canary-1", everything))
	place.startHandler(raw{
		"initialize": hello("s-1"),
		"tools/list": says(`{"tools":[{"name":"touch","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"annotations":{"destructiveHint":true}}]}`),
		"tools/call": says(`{"content":[{"type":"text","text":"touched"}]}`),
	})
	box := openServers(t, place.server("web"))
	ctx := withBearer(t.Context(), "canary-1")
	for range 3 {
		tools := box.Tools(ctx)
		if names(tools) != "touch" || !tools[0].DestructiveHint {
			t.Fatalf("got %+v", tools)
		}
	}
	if n := len(place.requestsWith(`"method":"tools/list"`)); n != 1 {
		t.Errorf("listed %d times", n)
	}
	if fixed, problem := box.Check(ctx, "touch", []byte(`{"n":"1"}`)); string(fixed) != `{"n":1}` || problem != "" {
		t.Errorf("got %s, %q", fixed, problem)
	}
	if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "touch", Bearer: "canary-1", Destructive: true}); got.Text != "touched" {
		t.Errorf("got %+v", got)
	}
	for _, bearer := range []string{"", "canary-2"} {
		other := withBearer(t.Context(), bearer)
		if got := box.Tools(other); len(got) != 0 {
			t.Errorf("%q is shown %v", bearer, got)
		}
		if _, problem := box.Check(other, "touch", nil); problem == "" {
			t.Errorf("%q knows the tool", bearer)
		}
	}
	eventually(t, "both sessions are ended", func() bool { return len(place.methods(http.MethodDelete)) == 2 })
	for _, r := range place.methods(http.MethodDelete) {
		if r.header.Get("Authorization") != "Bearer canary-1" {
			t.Errorf("ended by a stranger: %v", r.header)
		}
	}
	if got, want := box.States()[0], (contract.ServerState{Name: "web", Error: contract.ErrorAuthentication}); got != want {
		t.Errorf("got %+v", got)
	}
}
