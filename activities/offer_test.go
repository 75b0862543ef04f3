package activities_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
	"agent-stop-and-go/workflows/record/transcript"
)

var (
	risky = contract.Peer{Name: "deploy", URL: "http://deploy.test/a2a", Description: "Deploys things.", Destructive: true}
	quiet = contract.Peer{Name: "search", URL: "http://search.test/a2a"}
)

// modelRequest returns the request that the model gets for an input.
func modelRequest(t *testing.T, store *memory, tools []toolbox.Tool, in contract.GenerateInput) llm.Request {
	t.Helper()
	var got llm.Request
	m := &activities.Models{Blobs: store, Offer: fakeOffer{tools: tools},
		Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
			got = r
			return llm.Reply{Text: "ok"}, nil
		}}}
	if _, err := run(t, t.Context(), m.Generate, in); err != nil {
		t.Fatal(err)
	}
	return got
}

func stored(t *testing.T, store *memory, s string) contract.Text {
	t.Helper()
	got, err := transcript.Text(t.Context(), store, s)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func names(r llm.Request) []string {
	var out []string
	for _, t := range r.Tools {
		out = append(out, t.Name)
	}
	return out
}

func TestThePromptIsFilledIn(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	tests := map[string]struct {
		prompt string
		values contract.State
		want   string
	}{
		"with values":                         {"Improve {draft} for {user_message}.", contract.State{value("draft", "it"), value("user_message", "me")}, "Improve it for me."},
		"with a long value":                   {"Improve {draft}", contract.State{{Key: "draft", Text: contract.Inline(long)}}, "Improve " + long},
		"values are not filled in again":      {"{a}{b}", contract.State{value("a", "{b}"), value("b", "2")}, "{b}2"},
		"a key without a value is empty":      {"{a} <{empty}>", contract.State{value("empty", "")}, "{a} <>"},
		"without values":                      {"{a}", nil, "{a}"},
		"values it does not name stay unread": {"{a}", contract.State{{Key: "b", Text: contract.Text{Blob: &lost}}, value("a", "1")}, "1"},
		"an empty prompt":                     {"", contract.State{value("a", "1")}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := newMemory()
			in := question("hi")
			in.Prompt = stored(t, store, tt.prompt)
			for _, v := range tt.values {
				if v.Text.Blob == nil {
					v.Text = stored(t, store, v.Text.Inline)
				}
				in.Values = append(in.Values, v)
			}
			if got := modelRequest(t, store, nil, in); got.System != tt.want {
				t.Errorf("prompt %.80q, expected %.80q", got.System, tt.want)
			}
		})
	}
}

func value(key, text string) contract.Value {
	return contract.Value{Key: key, Text: contract.Inline(text)}
}

func TestAValueThatIsLostFailsTheModelCall(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	in := question("hi")
	in.Prompt, in.Values = contract.Inline("{a}"), contract.State{{Key: "a", Text: contract.Text{Blob: &lost}}}
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: replies(llm.Reply{Text: "ok"}, nil)}
	_, err := run(t, t.Context(), m.Generate, in)
	failedAs(t, err, contract.KindBlob, true)
}

func TestTheModelSeesWhatCameBefore(t *testing.T) {
	store := newMemory()
	old := message("older")
	old.Content = stored(t, store, long+"older")
	folded, err := transcript.Offload(t.Context(), store, contract.Transcript{Tail: []contract.Message{message(long)}})
	if err != nil {
		t.Fatal(err)
	}
	in := question("now")
	in.Before = &contract.Transcript{Head: &folded.Head, Tail: []contract.Message{old}}
	want := []contract.Message{message(long), message(long + "older"), message("now")}
	if diff := cmp.Diff(want, modelRequest(t, store, nil, in).Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestWhatCameBeforeIsNotFolded(t *testing.T) {
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: replies(llm.Reply{Text: "ok"}, nil)}
	in := question("now")
	in.Before = &contract.Transcript{Tail: []contract.Message{message(long)}}
	if got, err := run(t, t.Context(), m.Generate, in); err != nil || got.Offloaded != nil {
		t.Errorf("folded %+v, %v", got.Offloaded, err)
	}
	in.Transcript.Tail = append(in.Transcript.Tail, message(long))
	if got, err := run(t, t.Context(), m.Generate, in); err != nil || got.Offloaded == nil || got.Offloaded.Count != 2 || got.Offloaded.Head.Count != 2 {
		t.Errorf("folded %+v, %v", got.Offloaded, err)
	}
}

func TestWhatCameBeforeAndIsLostFailsTheModelCall(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	in := question("now")
	in.Before = &contract.Transcript{Head: &contract.Head{Blob: lost, Count: 1}}
	m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{}, Model: replies(llm.Reply{Text: "ok"}, nil)}
	_, err := run(t, t.Context(), m.Generate, in)
	failedAs(t, err, contract.KindBlob, true)
}

func TestOnlyAllowedToolsAreOnOffer(t *testing.T) {
	other := tool("read", false)
	other.Server = "files"
	all := []toolbox.Tool{tool("list", false), tool("add", true), other}
	tests := map[string]struct{ allow, want []string }{
		"no list allows all":           {nil, []string{"list", "add", "read"}},
		"an empty list none":           {[]string{}, nil},
		"a server's name its tools":    {[]string{"resources"}, []string{"list", "add"}},
		"a tool's name the tool":       {[]string{"read", "add"}, []string{"add", "read"}},
		"names of nothing no tool":     {[]string{"nope", ""}, nil},
		"both a server's and a tool's": {[]string{"files", "list"}, []string{"list", "read"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := question("hi")
			in.Tools = tt.allow
			if got := names(modelRequest(t, newMemory(), all, in)); !slices.Equal(got, tt.want) {
				t.Errorf("on offer: %v, expected %v", got, tt.want)
			}
		})
	}
}

func TestPeersAndTheWayOutAreOfferedAsTools(t *testing.T) {
	in := question("hi")
	in.Tools, in.Peers, in.ExitLoop = []string{"list"}, []contract.Peer{risky, quiet}, true
	got := modelRequest(t, newMemory(), []toolbox.Tool{tool("list", false)}, in).Tools
	if want := []string{"list", "a2a_deploy", "a2a_search", "exit_loop"}; !slices.Equal(names(llm.Request{Tools: got}), want) {
		t.Fatalf("tools %v, expected %v", got, want)
	}
	for i, want := range map[int]string{1: "Delegate task to A2A agent 'deploy'. Deploys things.", 2: "Delegate task to A2A agent 'search'."} {
		if got[i].Description != want || got[i].Server != "" || got[i].DestructiveHint != (i == 1) {
			t.Errorf("%+v, expected %q", got[i], want)
		}
		if required := schema(t, got[i])["required"]; !cmp.Equal(required, []any{"message"}) {
			t.Errorf("required: %v", required)
		}
	}
	if s := schema(t, got[3]); s["type"] != "object" || s["additionalProperties"] != false || got[3].DestructiveHint {
		t.Errorf("exit_loop: %+v", got[3])
	}
}

func schema(t *testing.T, tool contract.Tool) map[string]any {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal(tool.InputSchema, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAServersToolWithANameOfOursIsNotOffered(t *testing.T) {
	clash := []toolbox.Tool{tool("exit_loop", true), tool("list", false), tool("a2a_search", true)}
	in := question("hi")
	if got, want := names(modelRequest(t, newMemory(), clash, in)), []string{"exit_loop", "list", "a2a_search"}; !slices.Equal(got, want) {
		t.Errorf("on offer without ours: %v", got)
	}
	in.Peers, in.ExitLoop = []contract.Peer{quiet}, true
	if got, want := names(modelRequest(t, newMemory(), clash, in)), []string{"list", "a2a_search", "exit_loop"}; !slices.Equal(got, want) {
		t.Errorf("on offer: %v, expected %v", got, want)
	}
}

func TestACallTellsWhatItIs(t *testing.T) {
	offer := fakeOffer{
		tools: []toolbox.Tool{tool("list", false), tool("exit_loop", true)},
		CheckFn: func(name string, args json.RawMessage) (json.RawMessage, string) {
			return args, map[string]string{"a2a_deploy": "was checked by the servers"}[name]
		},
	}
	with := func(change func(*contract.GenerateInput)) contract.GenerateInput {
		in := question("hi")
		in.Peers, in.ExitLoop = []contract.Peer{risky, quiet}, true
		change(&in)
		return in
	}
	same := func(*contract.GenerateInput) {}
	tests := map[string]struct {
		in         contract.GenerateInput
		name, args string
		want       contract.Call
	}{
		"to a peer":                {with(same), "a2a_search", `{"message":"find it"}`, contract.Call{Peer: &quiet}},
		"to a destructive peer":    {with(same), "a2a_deploy", `{"message":"go"}`, contract.Call{Peer: &risky, Destructive: true, Because: contract.GroundSetting}},
		"with more than a message": {with(same), "a2a_search", `{"message":"go","n":1}`, contract.Call{Peer: &quiet}},
		"without a message":        {with(same), "a2a_search", `{"Message":"x"}`, contract.Call{Peer: &quiet, Problem: `"message" is required: expected string`}},
		"with an empty message":    {with(same), "a2a_search", `{"message":" \n"}`, contract.Call{Peer: &quiet, Problem: `"message" must not be empty`}},
		"with a message of a type": {with(same), "a2a_search", `{"message":["x"]}`, contract.Call{Peer: &quiet, Problem: `"message": expected string`}},
		"to a peer of others":      {with(func(in *contract.GenerateInput) { in.Peers = nil }), "a2a_search", `{"message":"x"}`, contract.Call{Unknown: true}},
		"out of the loop":          {with(same), "exit_loop", `{}`, contract.Call{Exit: true}},
		"out, with a reason":       {with(same), "exit_loop", `{"why":"done"}`, contract.Call{Exit: true}},
		"out of no loop": {with(func(in *contract.GenerateInput) { in.ExitLoop, in.Tools = false, []string{} }), "exit_loop", `{}`,
			contract.Call{Unknown: true}},
		"of a server's exit_loop": {with(func(in *contract.GenerateInput) { in.ExitLoop = false }), "exit_loop", `{}`,
			contract.Call{Server: "resources", Destructive: true}},
		"of a tool that is allowed":     {with(func(in *contract.GenerateInput) { in.Tools = []string{"list"} }), "list", `{}`, contract.Call{Server: "resources"}},
		"of a tool that is not allowed": {with(func(in *contract.GenerateInput) { in.Tools = []string{"files"} }), "list", `{}`, contract.Call{Unknown: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reply := llm.Reply{Calls: []llm.Call{{ID: "1", Name: tt.name, Arguments: json.RawMessage(tt.args)}}}
			m := &activities.Models{Blobs: newMemory(), Offer: offer, Model: replies(reply, nil)}
			got, err := run(t, t.Context(), m.Generate, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			want.ID, want.Name, want.Arguments, want.SHA256 = "1", tt.name, raw(tt.args), digest(t, tt.args)
			if diff := cmp.Diff([]contract.Call{want}, got.Calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADelegationThatIsNoObject(t *testing.T) {
	in := question("hi")
	in.Peers = []contract.Peer{quiet}
	for args, problem := range map[string]string{`[1]`: "the arguments are not a JSON object", `{"a`: "the arguments are not a JSON object"} {
		m := &activities.Models{Blobs: newMemory(), Offer: fakeOffer{},
			Model: replies(llm.Reply{Calls: []llm.Call{{Name: "a2a_search", Arguments: json.RawMessage(args)}}}, nil)}
		got, err := run(t, t.Context(), m.Generate, in)
		if err != nil || got.Calls[0].Problem != problem || string(got.Calls[0].Arguments.Raw) != "{}" {
			t.Errorf("%s: %+v, %v", args, got.Calls, err)
		}
	}
}

func TestToolsOfTheClientAreOfferedAndChecked(t *testing.T) {
	store := newMemory()
	clients := []contract.Tool{
		{Name: "pick", Description: "Pick one", InputSchema: json.RawMessage(titled), DestructiveHint: true},
		{Name: "list", Description: "hides behind the server's"},
		{Name: "other", Description: "is not demanded"},
	}
	raw, err := json.Marshal(clients)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args, problem string
	}{"fit": {`{"title":"T"}`, ""}, "do not fit": {`{"title":7}`, "title"}} {
		t.Run("arguments that "+name, func(t *testing.T) {
			var asked llm.Request
			m := &activities.Models{Blobs: store, Offer: fakeOffer{tools: []toolbox.Tool{tool("list", false)}},
				Model: fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
					asked = r
					return llm.Reply{Calls: []llm.Call{{ID: "c", Name: "pick", Arguments: json.RawMessage(tt.args)}, {ID: "d", Name: "list", Arguments: json.RawMessage(`{}`)}}}, nil
				}}}
			in := question("hi")
			in.ToolChoice = toolchoice.Choice{Call: []string{"list", "pick"}, Single: true}
			if in.ClientTools, err = transcript.JSON(t.Context(), store, raw); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, t.Context(), m.Generate, in)
			if err != nil {
				t.Fatal(err)
			}
			if len(asked.Tools) != 2 || asked.Tools[0].Description == "hides behind the server's" || asked.Tools[1].Name != "pick" {
				t.Errorf("offered %+v", asked.Tools)
			}
			if want := (toolchoice.Choice{Call: []string{"pick"}, Single: true}); !reflect.DeepEqual(asked.Choice, want) || len(out.Calls) != 1 {
				t.Errorf("demanded %+v, got %d calls", asked.Choice, len(out.Calls))
			}
			c := out.Calls[0]
			if !c.Client || !c.Destructive || c.Unknown || (c.Problem == "") != (tt.problem == "") || !strings.Contains(c.Problem, tt.problem) {
				t.Errorf("call %+v", c)
			}
		})
	}
}
