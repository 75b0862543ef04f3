package activities_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/mcp"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/record/transcript"
)

func catalogue(t *testing.T, a *activities.Tools) contract.Catalogue {
	t.Helper()
	return listed[contract.Catalogue](t, a, contract.WantTools)
}

func listed[T any](t *testing.T, a *activities.Tools, want contract.CatalogueKind) T {
	t.Helper()
	got, err := run(t, t.Context(), a.ListTools, contract.ListToolsInput{Kind: want})
	if err != nil {
		t.Fatal(err)
	}
	body, err := transcript.ReadJSON(t.Context(), a.Blobs, got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(body), ":null") {
		t.Errorf("the catalogue has a null: %s", body)
	}
	var c T
	if err := json.Unmarshal(body, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheCatalogueTellsWhatIsOnOfferAndWhatIsMissing(t *testing.T) {
	a := tools(t, nil)
	a.Model = contract.ModelState{Name: contract.DemoModel, Note: "offline"}
	a.Caller = fakeCaller{
		tools:  []toolbox.Tool{tool("list", false), tool("add", true)},
		states: []contract.ServerState{{Name: "resources", Ready: true, Tools: 2}, {Name: "files", Error: "down"}},
	}
	want := contract.Catalogue{
		Tools: []contract.Tool{tool("list", false).Tool, tool("add", true).Tool}, Model: a.Model,
		Servers: []contract.ServerState{{Name: "resources", Ready: true, Tools: 2}, {Name: "files", Error: "down"}},
	}
	if diff := cmp.Diff(want, catalogue(t, a)); diff != "" {
		t.Errorf("catalogue (-want +got):\n%s", diff)
	}
}

func TestAnEmptyCatalogueHasEmptyLists(t *testing.T) {
	a := tools(t, nil)
	c := catalogue(t, a)
	if c.Tools == nil || c.Servers == nil {
		t.Errorf("got %+v", c)
	}
}

func TestALargeCatalogueLivesInTheStore(t *testing.T) {
	a := tools(t, nil)
	big := tool("big", false)
	big.Description = long
	a.Caller = fakeCaller{tools: []toolbox.Tool{big}}
	got, err := run(t, t.Context(), a.ListTools, contract.ListToolsInput{})
	if err != nil || got.Body.Blob == nil {
		t.Errorf("got %.60s, %v", got.Body.Raw, err)
	}
	if c := catalogue(t, a); c.Tools[0].Description != long {
		t.Error("the catalogue came back changed")
	}
	a.Blobs.(*memory).putErr = errStore
	_, err = run(t, t.Context(), a.ListTools, contract.ListToolsInput{})
	failedAs(t, err, contract.KindBlob, true)
}

// threeServers has a server that answers, one that is down and one that refuses.
func threeServers() fakeCaller {
	failed := errors.Join(nil,
		&toolbox.Error{Kind: contract.KindToolUnavailable, Server: "files", Tool: "resources/list", Err: errors.New("not connected: no route")},
		&toolbox.Error{Kind: contract.KindToolFailed, Server: "notes", Tool: "resources/list", Err: errors.New("the server refused")})
	return fakeCaller{
		states: []contract.ServerState{
			{Name: "resources", Ready: true, Tools: 2}, {Name: "files", Error: "down", Optional: true}, {Name: "notes", Ready: true, Tools: 1},
		},
		ResourcesFn: func() ([]toolbox.Resource, error) {
			return []toolbox.Resource{
				{Server: "resources", URI: "r://1", Name: "1", Title: "One", Description: "d", MIMEType: "text/plain", Size: 7},
				{Server: "resources", URI: "r://{n}", Name: "n", Title: "Any", Description: "e", MIMEType: "text/html", Template: true},
			}, failed
		},
		PromptsFn: func() ([]toolbox.Prompt, error) {
			return []toolbox.Prompt{
				{Server: "resources", Name: "greet", Title: "Greet", Description: "d", Arguments: []toolbox.PromptArgument{
					{Name: "who", Title: "Who", Description: "a name", Required: true},
				}},
				{Server: "resources", Name: "part"},
			}, failed
		},
	}
}

var silent = []contract.ServerState{
	{Name: "files", Error: "not connected: no route", Optional: true}, {Name: "notes", Ready: true, Error: "the server refused", Tools: 1},
}

func TestResourcesAreListedWithTheServersThatDidNotAnswer(t *testing.T) {
	a := tools(t, nil)
	a.Caller = threeServers()
	want := contract.ResourceCatalogue{
		Resources: []mcp.Resource{
			{Server: "resources", URI: "r://1", Name: "1", Title: "One", Description: "d", MIMEType: "text/plain", Size: 7},
		},
		Templates: []mcp.ResourceTemplate{
			{Server: "resources", URITemplate: "r://{n}", Name: "n", Title: "Any", Description: "e", MIMEType: "text/html"},
		},
		Servers: silent,
	}
	if diff := cmp.Diff(want, listed[contract.ResourceCatalogue](t, a, contract.WantResources)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPromptsAreListedWithTheServersThatDidNotAnswer(t *testing.T) {
	a := tools(t, nil)
	a.Caller = threeServers()
	want := contract.PromptCatalogue{
		Prompts: []mcp.Prompt{
			{Server: "resources", Name: "greet", Title: "Greet", Description: "d", Arguments: []mcp.PromptArgument{
				{Name: "who", Title: "Who", Description: "a name", Required: true},
			}},
			{Server: "resources", Name: "part", Arguments: []mcp.PromptArgument{}},
		},
		Servers: silent,
	}
	if diff := cmp.Diff(want, listed[contract.PromptCatalogue](t, a, contract.WantPrompts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEmptyListsOfResourcesAndPromptsAreNoNulls(t *testing.T) {
	a := tools(t, nil)
	a.Caller = fakeCaller{
		ResourcesFn: func() ([]toolbox.Resource, error) { return nil, nil }, PromptsFn: func() ([]toolbox.Prompt, error) { return nil, nil },
	}
	if c := listed[contract.ResourceCatalogue](t, a, contract.WantResources); c.Resources == nil || c.Templates == nil || c.Servers == nil {
		t.Errorf("got %+v", c)
	}
	if c := listed[contract.PromptCatalogue](t, a, contract.WantPrompts); c.Prompts == nil || c.Servers == nil {
		t.Errorf("got %+v", c)
	}
}

func TestManyResourcesLiveInTheStore(t *testing.T) {
	a := tools(t, nil)
	a.Caller = fakeCaller{ResourcesFn: func() ([]toolbox.Resource, error) { return make([]toolbox.Resource, 1000), nil }}
	got, err := run(t, t.Context(), a.ListTools, contract.ListToolsInput{Kind: contract.WantResources})
	if err != nil || got.Body.Blob == nil {
		t.Errorf("got %.60s, %v", got.Body.Raw, err)
	}
	if c := listed[contract.ResourceCatalogue](t, a, contract.WantResources); len(c.Resources) != 1000 {
		t.Errorf("%d came back", len(c.Resources))
	}
}

func TestWhatAWorkerDoesNotKnowIsRefused(t *testing.T) {
	_, err := run(t, t.Context(), tools(t, nil).ListTools, contract.ListToolsInput{Kind: "weather"})
	failedAs(t, err, contract.KindInvalid, false)
}

func TestTheCatalogueHasTheProblemsOfTheConfigurationAndOfTheTools(t *testing.T) {
	a := tools(t, nil)
	a.Problems, a.Notes = []string{"no key"}, []string{"another model is asked"}
	a.Caller = fakeCaller{conflicts: []string{"two tools of one name"}}
	c := catalogue(t, a)
	if diff := cmp.Diff([][]string{{"no key", "two tools of one name"}, {"another model is asked"}}, [][]string{c.Problems, c.Notes}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAWorkerLooksForTheGatewaysProbeAndPutsItsOwn(t *testing.T) {
	a := tools(t, nil)
	a.Probe = transcript.NewProbe(a.Blobs, time.Now)
	check := func(probe *contract.Blob) *contract.StoreCheck {
		t.Helper()
		got, err := run(t, t.Context(), a.ListTools, contract.ListToolsInput{Probe: probe})
		if err != nil {
			t.Fatal(err)
		}
		return got.Store
	}
	if got := check(nil); got != nil {
		t.Errorf("an older gateway gets %+v", got)
	}
	there, err := a.Blobs.Put(t.Context(), []byte("of the gateway"))
	if err != nil {
		t.Fatal(err)
	}
	got := check(&there)
	if got == nil || got.Problem != "" || got.Probe.SHA256 != there.SHA256 {
		t.Fatalf("a probe that is there: %+v", got)
	}
	if _, err := a.Blobs.Get(t.Context(), got.Own); err != nil {
		t.Errorf("the worker's own probe: %v", err)
	}
	elsewhere := contract.NewBlob([]byte("in another store"))
	if got := check(&elsewhere); got.Problem == "" || got.Probe.SHA256 != elsewhere.SHA256 {
		t.Errorf("a probe that is not there: %+v", got)
	}
	a.Blobs.(*memory).putErr = errStore
	_, err = run(t, t.Context(), a.ListTools, contract.ListToolsInput{Probe: &there})
	failedAs(t, err, contract.KindBlob, true)
}

func TestTheSystemPromptOfAServerIsRead(t *testing.T) {
	a := tools(t, nil)
	for name, c := range map[string]struct {
		result toolbox.Result
		err    error
		want   promptversion.Reading
	}{
		"a prompt":         {toolbox.Result{Text: `{"text":"Help."}`}, nil, promptversion.Reading{Prompt: json.RawMessage(`{"text":"Help."}`)}},
		"no JSON":          {toolbox.Result{Text: "Help."}, nil, promptversion.Reading{Problem: "prompt://sections is not a prompt"}},
		"a login":          {toolbox.Result{AuthRequired: "p"}, nil, promptversion.Reading{Problem: "it answers only those who have logged in"}},
		"a server is down": {toolbox.Result{}, &toolbox.Error{Server: "p", Err: errors.New("refused")}, promptversion.Reading{Problem: "refused"}},
	} {
		a.Caller = fakeCaller{ReadFn: func(access toolbox.Access, uri string) (toolbox.Result, error) {
			if access != (toolbox.Access{Server: "p"}) || uri != promptversion.URI {
				t.Errorf("%s: %+v %s", name, access, uri)
			}
			return c.result, c.err
		}}
		got, err := run(t, t.Context(), a.ListTools, contract.ListToolsInput{Kind: contract.WantSystemPrompt, Server: "p"})
		var reading promptversion.Reading
		if err == nil {
			err = json.Unmarshal(got.Body.Raw, &reading)
		}
		if diff := cmp.Diff(c.want, reading); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
