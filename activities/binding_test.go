package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/difference"
)

// destructiveTool returns a destructive tool of a server with an address.
func destructiveTool(description, schema string) toolbox.Tool {
	out := tool("add", true)
	out.Address, out.Description, out.InputSchema = "http://a/mcp", description, json.RawMessage(schema)
	return out
}

// offeredCall returns the call of a tool in a model's reply.
func offeredCall(t *testing.T, store *memory, tool toolbox.Tool) contract.Call {
	t.Helper()
	reply := llm.Reply{Calls: []llm.Call{{ID: "1", Name: tool.Name, Arguments: json.RawMessage(`{}`)}}}
	m := &activities.Models{Blobs: store, Offer: fakeOffer{tools: []toolbox.Tool{tool}}, Model: replies(reply, nil)}
	got, err := run(t, t.Context(), m.Generate, question("hi"))
	if err != nil {
		t.Fatal(err)
	}
	return got.Calls[0]
}

func TestADestructiveCallIsBoundToItsTool(t *testing.T) {
	store := newMemory()
	b := offeredCall(t, store, destructiveTool("Adds.", `{"type":"object"}`)).Binding
	const definition = `{"description":"Adds.","inputSchema":{"type":"object"}}`
	if b == nil || b.Address != "http://a/mcp" || b.SHA256 != contract.Hash([]byte(definition)) {
		t.Fatalf("binding %+v", b)
	}
	if b.Definition.Blob == nil || b.Definition.Blob.Preview != "" || string(store.values[b.SHA256]) != definition {
		t.Errorf("definition %+v", b.Definition)
	}
	harmless := destructiveTool("Adds.", `{"type":"object"}`)
	harmless.DestructiveHint = false
	if b := offeredCall(t, store, harmless).Binding; b != nil {
		t.Errorf("a call that asks nobody is bound to %+v", b)
	}
}

func TestTheActivityTellsWhatHasChanged(t *testing.T) {
	const was = `{"type":"object","properties":{"name":{"type":"string"},"note":{"type":"string"}}}`
	for name, tt := range map[string]struct {
		now  toolbox.Target
		lost bool
		want string
	}{
		"the address": {
			toolbox.Target{Address: "http://b/mcp", Definition: destructiveTool("Adds.", was).Target().Definition}, false,
			"Address of the server\n- approved: \"http://a/mcp\"\n- now: \"http://b/mcp\"",
		},
		"the tool": {
			destructiveTool("Adds.\nAnd deletes.", strings.Replace(was, `"name":{"type":"string"}`, `"name":{"type":"boolean"}`, 1)).Target(), false,
			"Description of the tool\n- approved: \"Adds.\"\n- now: \"Adds.\\nAnd deletes.\"\n\n" +
				"Parameters of the tool, where they differ\n- approved:\n\n  >       \"type\": \"string\"\n\n- now:\n\n  >       \"type\": \"boolean\"\n",
		},
		"the tool is gone": {
			toolbox.Target{Address: "http://a/mcp"}, false,
			"Tool\n- approved: listed, with the digest " + destructiveTool("Adds.", was).Target().Digest() + "\n- now: the tool is not listed",
		},
		"the tool, and its definition is lost": {
			destructiveTool("Deletes.", was).Target(), true,
			"Tool\n- approved: listed, with the digest " + destructiveTool("Adds.", was).Target().Digest() +
				"\n- now: listed, with the digest " + destructiveTool("Deletes.", was).Target().Digest(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := tools(t, answering(toolbox.Result{}, &toolbox.Error{Kind: contract.KindChanged, Server: "resources", Tool: "add", Err: errors.New("changed"), Now: tt.now}))
			store := a.Blobs.(*memory)
			in := calling(t, `{}`, true)
			in.Binding = offeredCall(t, store, destructiveTool("Adds.", was)).Binding
			if tt.lost {
				delete(store.values, in.Binding.SHA256)
			}
			_, err := run(t, t.Context(), a.CallTool, in)
			failedAs(t, err, contract.KindChanged, false)
			got := detailsOf(t, err)
			if diff := cmp.Diff(tt.want, got.Difference); diff != "" {
				t.Errorf("difference (-want +got):\n%s", diff)
			}
			if got.Binding.Address != tt.now.Address || got.Binding.SHA256 != tt.now.Digest() || !got.Whole.IsZero() {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func detailsOf(t *testing.T, err error) difference.TargetChange {
	t.Helper()
	var app *temporal.ApplicationError
	var got difference.TargetChange
	if !errors.As(err, &app) || app.Details(&got) != nil {
		t.Fatalf("no details in %v", err)
	}
	return got
}

func TestALongDifferenceIsCutAndKept(t *testing.T) {
	a := tools(t, answering(toolbox.Result{}, &toolbox.Error{Kind: contract.KindChanged, Err: errors.New("changed"), Now: destructiveTool(strings.Repeat("é", 5000), `{}`).Target()}))
	in := calling(t, `{}`, true)
	in.Binding = offeredCall(t, a.Blobs.(*memory), destructiveTool("Adds.", `{}`)).Binding
	_, err := run(t, t.Context(), a.CallTool, in)
	got := detailsOf(t, err)
	if len(got.Difference) > contract.InlineLimit+3 || !strings.HasSuffix(got.Difference, "é…") {
		t.Errorf("%d bytes: %q", len(got.Difference), got.Difference)
	}
	if whole := text(t, a.Blobs.(*memory), got.Whole); !strings.Contains(whole, strings.Repeat("é", 5000)) {
		t.Errorf("the whole has %d bytes", len(whole))
	}
}

func TestTheActivityPassesOnWhatACallIsBoundTo(t *testing.T) {
	var got toolbox.Call
	a := tools(t, func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
		got = c
		return toolbox.Result{}, nil
	})
	in := calling(t, `{}`, true)
	in.Binding = &contract.Binding{Address: "http://a/mcp", SHA256: "s"}
	if _, err := run(t, t.Context(), a.CallTool, in); err != nil || got.Bound == nil || !got.Bound.Same(*in.Binding) {
		t.Errorf("bound to %+v, %v", got.Bound, err)
	}
}
