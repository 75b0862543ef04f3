package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// ask sends the client the request in its argument, and returns the client's answer.
func ask(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	const id = "it"
	if answer, ok := server.InputResponse(r.Params.InputResponses, id); ok {
		if r.GetString("what", "") == "person, firmly" {
			return nil, errors.New("nothing goes without an answer")
		}
		text, err := json.Marshal(answer)
		return mcp.NewToolResultText(string(text)), err
	}
	b := server.NewInputRequestBuilder("state")
	switch r.GetString("what", "") {
	case "person, firmly":
		b.Elicit(id, mcp.ElicitationParams{Message: "How many?", RequestedSchema: map[string]any{"type": "object"}})
	case "roots":
		b.Roots(id)
	case "person":
		b.Elicit(id, mcp.ElicitationParams{Message: "How many?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer", "default": 3}},
		}})
	case "page":
		b.Elicit(id, mcp.ElicitationParams{Mode: "url", Message: "Go there", ElicitationID: "1", URL: "http://example.com"})
	case "model":
		b.Sample(id, mcp.CreateMessageParams{SystemPrompt: "Be brief.", MaxTokens: 500, Messages: []mcp.SamplingMessage{
			{Role: mcp.RoleUser, Content: mcp.NewTextContent("hi")}, {Role: mcp.RoleAssistant, Content: mcp.NewTextContent("ho")},
		}})
	case "image":
		b.Sample(id, mcp.CreateMessageParams{Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewImageContent("aGVsbG8=", "image/png")}}})
	}
	return b.ToolResult(), nil
}

type fakeSampler struct {
	SampleFn func(context.Context, toolbox.Sample) (toolbox.SampleResult, error)
}

func (f fakeSampler) Sample(ctx context.Context, s toolbox.Sample) (toolbox.SampleResult, error) {
	return f.SampleFn(ctx, s)
}

type fakeElicitor struct {
	ElicitFn func(context.Context, toolbox.Question) (toolbox.Answer, error)
}

func (f fakeElicitor) Elicit(ctx context.Context, q toolbox.Question) (toolbox.Answer, error) {
	return f.ElicitFn(ctx, q)
}

// eachAskingKind runs a test with each kind of server that can ask. mcp-go's SSE server cannot.
func eachAskingKind(t *testing.T, test func(t *testing.T, s toolbox.Server)) {
	for name, start := range kinds {
		if name != "sse" {
			t.Run(name, func(t *testing.T) { test(t, start(t)) })
		}
	}
}

func askFor(t *testing.T, box *toolbox.Toolbox, what string) (toolbox.Result, error) {
	t.Helper()
	return box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "ask", Arguments: fmt.Appendf(nil, `{"what":%q}`, what), IdempotencyKey: "key-1", Destructive: true})
}

func TestServersAreToldTheirRoots(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		s.Roots = []string{"/srv/a b", "file:///data"}
		got, err := askFor(t, openServers(t, s), "roots")
		want := `{"roots":[{"uri":"file:///srv/a%20b","name":"a b"},{"uri":"file:///data","name":"data"}]}`
		if err != nil || got.Text != want {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestServersMayAskAModelForALimitedAnswer(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		s.SampleTokens = 99
		var asked toolbox.Sample
		sampler := fakeSampler{func(_ context.Context, s toolbox.Sample) (toolbox.SampleResult, error) {
			asked = s
			return toolbox.SampleResult{Text: "hey", Model: "m"}, nil
		}}
		box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Sampler: sampler})
		got, err := askFor(t, box, "model")
		if err != nil || got.IsError || !strings.Contains(got.Text, `"hey"`) || !strings.Contains(got.Text, `"model":"m"`) {
			t.Errorf("got %+v, %v", got, err)
		}
		want := toolbox.Sample{Server: "web", System: "Be brief.", MaxTokens: 99,
			Turns: []toolbox.SampleTurn{{Text: "hi"}, {Assistant: true, Text: "ho"}}}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if got, err := askFor(t, box, "image"); err == nil && !got.IsError {
			t.Errorf("an image was taken: %+v", got)
		}
	})
}

func TestServersMayAskAPerson(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		elicitor := fakeElicitor{func(_ context.Context, q toolbox.Question) (toolbox.Answer, error) {
			if q.Server != "web" || q.Tool != "ask" || q.Key != "key-1" || q.Message != "How many?" || !strings.Contains(string(q.Schema), `"n"`) {
				t.Errorf("asked %+v", q)
			}
			return toolbox.Answer{Action: toolbox.Accept, Content: map[string]any{"n": 5}}, nil
		}}
		s.MayAsk = true
		box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Elicitor: elicitor})
		if !box.Tools(t.Context())[0].MayAsk {
			t.Error("the tools do not tell that they may ask")
		}
		if got, err := askFor(t, box, "person"); err != nil || got.Text != `{"action":"accept","content":{"n":5}}` {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestOnlyAUserDeclines(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		given := toolbox.Answer{Action: toolbox.Decline}
		s.MayAsk = true
		box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Elicitor: fakeElicitor{func(context.Context, toolbox.Question) (toolbox.Answer, error) {
			return given, nil
		}}})
		if got, err := askFor(t, box, "person"); err != nil || got.Text != `{"action":"decline"}` {
			t.Errorf("a user declines: %+v, %v", got, err)
		}
		given = toolbox.Answer{Action: toolbox.Cancel, Problem: "nobody was shown it: the desk is closed"}
		for what, why := range map[string]string{
			"person": `"How many?" during this call. No user has answered: nobody was shown it: the desk is closed.`,
			"page":   `"Go there" during this call. No user has answered: nobody was shown it: it is no form, but of the mode "url".`,
		} {
			got, err := askFor(t, box, what)
			want := cancelled + "\n[The MCP server web asked " + why + ` The server was told "cancel".]`
			if err != nil || got.Text != want {
				t.Errorf("%s: got %+v, %v", what, got, err)
			}
		}
	})
}

func TestACallThatFailsAfterAQuestionSaysThatNobodyAnswered(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		s.MayAsk = true
		box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Elicitor: fakeElicitor{func(context.Context, toolbox.Question) (toolbox.Answer, error) {
			return toolbox.Answer{Action: toolbox.Cancel, Problem: "nobody was shown it: it is too large"}, nil
		}}})
		got, err := askFor(t, box, "person, firmly")
		wantKind(t, err, contract.KindOutcomeUnknown)
		if err == nil || !strings.Contains(err.Error(), "nobody was shown it: it is too large") {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestServersThatAskWhatNobodyAnswersGetNoResult(t *testing.T) {
	eachAskingKind(t, func(t *testing.T, s toolbox.Server) {
		s.SampleTokens = 99 // but there is no Sampler
		box := openServers(t, s)
		for _, what := range []string{"roots", "person", "model"} {
			got, err := askFor(t, box, what)
			if err == nil && !got.IsError {
				t.Errorf("%s: got %+v", what, got)
			}
			want := contract.KindOutcomeUnknown // after an internal error of the server
			if err != nil && strings.Contains(err.Error(), "asks for what it cannot be given") {
				want = contract.KindToolFailed
			}
			if err != nil {
				wantKind(t, err, want)
			}
		}
	})
}

func TestNothingIsDeclaredThatWasNotSet(t *testing.T) {
	sampler := fakeSampler{}
	for want, o := range map[string]toolbox.Options{
		`"capabilities":{}`:                 {Sampler: sampler, Elicitor: fakeElicitor{}, Servers: []toolbox.Server{{}}},
		`"capabilities":{"roots":{}}`:       {Servers: []toolbox.Server{{Roots: []string{"."}, SampleTokens: 5, MayAsk: true}}},
		`"capabilities":{"sampling":{}}`:    {Sampler: sampler, Servers: []toolbox.Server{{SampleTokens: 5}}},
		`"capabilities":{"elicitation":{}}`: {Elicitor: fakeElicitor{}, Servers: []toolbox.Server{{MayAsk: true}}},
	} {
		place := serve(t, newMCP(nil))
		o.Servers[0].Name, o.Servers[0].URL = "web", place.server("web").URL
		open(t, o).Tools(t.Context())
		if hello := place.requestsWith(`"method":"initialize"`)[0].body; !strings.Contains(hello, want) {
			t.Errorf("want %s in %s", want, hello)
		}
	}
}
