package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/clienttool"
)

// withTwoCalls has every first message ask the client for two calls, and every other message answered.
func withTwoCalls(m *many) {
	m.work = func(s *script) func(contract.MessageSignal) {
		s.onDecide = func(uuid string, d contract.DecideSignal) {
			for _, call := range s.asked {
				var given clienttool.Result
				if err := json.Unmarshal(s.decided[call.UUID].Content.Raw, &given); err != nil {
					m.t.Error(err)
				}
				s.change(func(v *contract.ConversationView) {
					v.Transcript.Tail = append(v.Transcript.Tail, contract.Message{
						ID: s.id(), Role: contract.RoleTool, ResultOf: call.Call, ToolCall: &contract.ToolCall{Name: call.ToolName, Result: contract.Inline(given.Content)}, CreatedAt: epoch,
					})
				})
			}
			s.finish(contract.MessageSignal{RequestID: d.RequestID, Name: uuid}, "it is so")
		}
		return func(msg contract.MessageSignal) {
			if len(s.sent) > 1 {
				s.answer(msg)
				return
			}
			s.begin(msg)
			for _, uuid := range []string{someUUID, freeID} {
				s.ask(msg, contract.PendingApproval{UUID: uuid, ToolName: "weather", ToolArgs: contract.JSON{Raw: json.RawMessage(`{}`)}, Reason: contract.ReasonClientTool})
			}
		}
	}
}

// inputsOf returns the input items of a response: types with what each says.
func (c *completions) inputsOf(r reply, query string) (out []string, list reply) {
	c.t.Helper()
	list = c.want(200, c.do("GET", "/v1/responses/"+r.text("id")+"/input_items"+query, ""))
	items, _ := list.at("data").([]any)
	for _, i := range items {
		item, _ := i.(map[string]any)
		text := fmt.Sprint(item["type"], " ", item["call_id"], " ", item["output"])
		if content, _ := item["content"].([]any); len(content) > 0 {
			text = fmt.Sprint(item["type"], " ", content[0].(map[string]any)["text"])
		}
		out = append(out, text)
	}
	return out, list
}

// The input items are what was sent, in its order.
func TestTheInputItemsAreWhatWasSent(t *testing.T) {
	const tools = `"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}]`
	result := func(uuid, output string) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%s","output":%q}`, strings.ReplaceAll(uuid, "-", ""), output)
	}
	said := func(uuid, output string) string {
		return "function_call_output call_" + strings.ReplaceAll(uuid, "-", "") + " " + output
	}
	both := result(freeID, "rain") + "," + result(someUUID, "sunny")
	for name, test := range map[string]struct {
		input string
		want  []string
	}{
		"results":               {both, []string{said(freeID, "rain"), said(someUUID, "sunny")}},
		"results and a message": {both + `,{"role":"user","content":"and?"}`, []string{said(freeID, "rain"), said(someUUID, "sunny"), "message and?"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMany(t)
			withTwoCalls(m)
			c := chatting(t, m)
			defer c.Close()
			asked := c.respond(`{"input":"weather?",` + tools + `}`)
			got := c.respond(fmt.Sprintf(`{"previous_response_id":%q,"input":[%s]}`, asked.text("id"), test.input))
			all, list := c.inputsOf(got, "?order=asc")
			if strings.Join(all, "|") != strings.Join(test.want, "|") || list.at("has_more") != false {
				t.Errorf("%s: %q, expected %q: %s", name, all, test.want, list.raw)
			}
			if newest, _ := c.inputsOf(got, ""); len(newest) != len(all) || newest[0] != all[len(all)-1] { // as with OpenAI
				t.Errorf("%s: %q", name, newest)
			}
			query := "?order=asc&limit=1"
			for n, want := range test.want {
				one, list := c.inputsOf(got, query)
				if len(one) != 1 || one[0] != want || list.at("has_more") != (n+1 < len(test.want)) || list.text("first_id") != list.text("last_id") {
					t.Errorf("%s, page %d: %s", name, n, list.raw)
				}
				query = "?order=asc&limit=1&after=" + list.text("last_id")
			}
			if rest, _ := c.inputsOf(got, query); len(rest) > 0 {
				t.Errorf("%s, behind the last one: %q", name, rest)
			}
			if first, _ := c.inputsOf(asked, ""); strings.Join(first, "|") != "message weather?" {
				t.Errorf("%s: %q", name, first)
			}
		})
	}
}

// One result needs nothing of the request to be kept.
func TestTheInputItemOfAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		withClientTool(m)
		c := chatting(t, m)
		defer c.Close()
		asked := c.respond(`{"input":"weather?","tools":[{"type":"function","name":"get_weather"}]}`)
		call := idOf(asked, "function_call", "call_id")
		got := c.respond(fmt.Sprintf(`{"previous_response_id":%q,"input":[{"type":"function_call_output","call_id":%q,"output":"cloudy"}]}`, asked.text("id"), call))
		items, list := c.inputsOf(got, "")
		if len(items) != 1 || !strings.HasPrefix(items[0], "function_call_output "+call) || strings.Contains(list.raw, "mcp") {
			t.Errorf("%q: %s", items, list.raw)
		}
	})
}
