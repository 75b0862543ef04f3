package router_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// What is demanded of the calls is sent to each provider in its own form. The server refuses what the
// real ones refuse.
func TestADemandOnTheWire(t *testing.T) {
	all := []string{"resources.list", "resources.add", "look"}
	one, two, single := toolchoice.Choice{Call: []string{"resources.add"}}, toolchoice.Choice{Call: all[:2]}, toolchoice.Choice{Single: true}
	oneAlone := toolchoice.Choice{Call: one.Call, Single: true}
	for _, tt := range []struct {
		model  string
		choice toolchoice.Choice
		want   string // what is in the request of a choice
		offer  string
	}{
		{"openai:gpt-4o", one, `{"tool_choice":{"function":{"name":"resources_add"},"type":"function"}}`, "resources_list resources_add look"},
		{"openai:gpt-4o", two, `{"tool_choice":"required"}`, "resources_list resources_add"},
		{"openai:gpt-4o", single, `{"parallel_tool_calls":false}`, "resources_list resources_add look"},
		{"openai:gpt-4o", oneAlone, `{"parallel_tool_calls":false,"tool_choice":{"function":{"name":"resources_add"},"type":"function"}}`, "resources_list resources_add look"},
		{"openai:o3-mini", oneAlone, `{"tool_choice":{"function":{"name":"resources_add"},"type":"function"}}`, "resources_list resources_add look"},
		{"mistral:mistral-large-latest", oneAlone, `{"parallel_tool_calls":false,"tool_choice":"required"}`, "resources_add"},
		{"openrouter:openai/gpt-5", two, `{"tool_choice":"required"}`, "resources_list resources_add"},
		{"openrouter:openai/o3", single, `{"parallel_tool_calls":false}`, "resources_list resources_add look"},
		{"local", one, `{"tool_choice":"required"}`, "resources_add"},
		{"local", toolchoice.Choice{Call: all}, `{"tool_choice":"required"}`, "resources_list resources_add look"},
		{"ollama:llama3.2:3b", oneAlone, `{}`, "resources_add"},
		{"anthropic:claude-sonnet-4-5", one, `{"tool_choice":{"name":"resources_add","type":"tool"}}`, "resources_list resources_add look"},
		{"anthropic:claude-sonnet-4-5", oneAlone, `{"tool_choice":{"disable_parallel_tool_use":true,"name":"resources_add","type":"tool"}}`, "resources_list resources_add look"},
		{"anthropic:claude-sonnet-4-5", two, `{"tool_choice":{"type":"any"}}`, "resources_list resources_add"},
		{"anthropic:claude-sonnet-4-5", single, `{"tool_choice":{"disable_parallel_tool_use":true,"type":"auto"}}`, "resources_list resources_add look"},
		{"google:gemini-2.5-flash", one, `{"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["resources_add"],"mode":"ANY"}}}`, "resources_list resources_add look"},
		{"google:gemini-2.5-flash", two, `{"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["resources_list","resources_add"],"mode":"ANY"}}}`, "resources_list resources_add look"},
		{"google:gemini-2.5-flash", single, `{}`, "resources_list resources_add look"},
	} {
		t.Run(fmt.Sprint(tt.model, tt.choice), func(t *testing.T) {
			s, m := sample.NewServer(t)
			if tt.model == "local" {
				m = router.New(router.Options{BaseURL: s.URL(), Models: []llm.Entry{{Name: "local", Provider: contract.ProviderCompatible, Model: "m"}}})
			}
			s.Reply(llmtest.Say("ok"))
			r := llm.Request{Model: tt.model, System: "Be brief.", Messages: sample.Conversation(), Choice: tt.choice}
			for _, name := range all {
				r.Tools = append(r.Tools, sample.Tool(name, "", `{"type":"object","properties":{"name":{"type":"string"}}}`, false))
			}
			if _, err := m.Generate(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			body := s.Requests()[0].Body
			if diff := cmp.Diff([]string{tt.want, tt.offer}, []string{demands(t, body), offer(t, body)}); diff != "" {
				t.Errorf("(-want +got):\n%s%s", diff, body)
			}
			asks := map[string]string{"ollama": "Reply with a call of one of these tools: resources_add. Call one tool at most in a reply."}
			if strings.HasPrefix(tt.model, "google:") && tt.choice.Single {
				asks["google"] = "Call one tool at most in a reply."
			}
			provider, _, _ := strings.Cut(tt.model, ":")
			if ask := asks[provider]; ask != "" && !strings.Contains(string(body), `Be brief.\n\n`+ask) || ask == "" && strings.Contains(string(body), "one tool") {
				t.Errorf("the prompt is to ask %q: %s", ask, body)
			}
			if refused := s.Refused(); len(refused) > 0 {
				t.Error(refused)
			}
		})
	}
}

// Without tools no provider takes a demand about their calls.
func TestWithoutToolsNothingIsDemanded(t *testing.T) {
	for _, model := range []string{"openai:gpt-4o", "mistral:mistral-large-latest", "anthropic:claude-sonnet-4-5", "google:gemini-2.5-flash", "ollama:llama3.2:3b"} {
		s, router := sample.NewServer(t)
		s.Reply(llmtest.Say("ok"))
		_, err := router.Generate(t.Context(), llm.Request{Model: model, Messages: []contract.Message{sample.User("hi")}, Choice: toolchoice.Choice{Single: true}})
		if body := s.Requests()[0].Body; err != nil || demands(t, body) != "{}" || strings.Contains(string(body), "one tool") {
			t.Errorf("%s: %v, %s", model, err, body)
		}
	}
}

func TestTheDemoModelMakesTheCallThatIsDemanded(t *testing.T) {
	_, router := sample.NewServer(t)
	for _, tt := range []struct{ says, want string }{
		{"hello", `resources_add {"name":"alpha","value":42}`},
		{"list all resources", `resources_add {"name":"alpha","value":42}`},
		{"add a resource named x with value 7", `resources_add {"name":"x","value":7}`},
	} {
		reply, err := router.Generate(t.Context(), llm.Request{
			Model: contract.DemoModel, Messages: []contract.Message{sample.User(tt.says)}, Tools: sample.Resources,
			Choice: toolchoice.Choice{Call: []string{"resources_add"}, Single: true},
		})
		if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name+" "+string(reply.Calls[0].Arguments) != tt.want || reply.Finish != llm.FinishToolCalls {
			t.Errorf("%s: %+v, %v", tt.says, reply, err)
		}
	}
}

// demands returns the members of a request that are about calls.
func demands(t *testing.T, body []byte) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, name := range []string{"tool_choice", "parallel_tool_calls", "toolConfig"} {
		if all[name] != nil {
			out[name] = all[name]
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// offer returns the names of the tools in a request of any provider.
func offer(t *testing.T, body []byte) string {
	t.Helper()
	type function struct{ Name string }
	var request struct {
		Tools []struct {
			Name      string
			Function  function
			Functions []function `json:"functionDeclarations"`
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range request.Tools {
		for _, f := range append(tool.Functions, tool.Function, function{tool.Name}) {
			if f.Name != "" {
				names = append(names, f.Name)
			}
		}
	}
	return strings.Join(names, " ")
}
