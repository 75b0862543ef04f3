package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"agent-stop-and-go/gateway/slackchat/fakeslack"
)

// who is a caller as a proxy in front of the agent names it, with what else its client sends.
type who struct {
	headers  []string
	converse bool // may start conversations
}

// claims are headers with which other programs name people and groups. No program proves them here.
var claims = []string{
	"X-User: dan", "X-Forwarded-User: dan", "X-Forwarded-Email: dan@example.com", "X-Auth-Request-User: dan", "Remote-User: dan",
	"X-OpenWebUI-User-Id: dan", "X-OpenWebUI-User-Name: dan", "X-OpenWebUI-User-Email: dan@example.com", "X-OpenWebUI-User-Role: admin",
	"X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: 127.0.0.1", "X-Forwarded-Groups: deciders", "X-Scopes: approve:all", "X-Approved: true",
}

// callers are all kinds of callers.
var callers = map[string]who{
	"none":             {},
	"junk key":         {headers: []string{"Authorization: Bearer asg_junk"}},
	"forged":           {headers: append([]string{"X-Groups: deciders"}, claims...)},
	"reader":           {headers: []string{"X-Subject: rita"}},
	"requester":        {headers: []string{"X-Subject: ann", "X-Groups: callers"}, converse: true},
	"forged requester": {headers: append([]string{"X-Subject: ann", "X-Groups: callers"}, claims...), converse: true},
	"approver":         {headers: []string{"X-Subject: abe", "X-Groups: approvers"}, converse: true},
	"operator":         {headers: []string{"X-Subject: olga", "X-Groups: operators"}, converse: true},
	"foreign":          {headers: []string{"X-Subject: zoe", "X-Groups: callers"}, converse: true},
}

// classes are the kinds of calls, by the tool that stands for each, and whether the call runs at
// once or asks; else it does neither.
var classes = map[string]struct {
	tool       string
	runs, asks bool
	shadow     bool // the client declares a tool of this name, which is harmless
}{
	"read":          {tool: "note_list", runs: true},
	"destructive":   {tool: "note_add", asks: true},
	"denied":        {tool: "tick"},
	"asks by group": {tool: "look", asks: true},
	"shadowed":      {tool: "note_add", asks: true, shadow: true},
}

// front sends a text as one kind of client does, with the declarations of a tool of the client if
// tool is not "".
type front struct {
	send func(f fronts, text, tool string, headers []string) reply
	// noTools: its clients cannot declare tools, and a request that does is refused.
	noTools bool
}

// fronts are the ports of an agent, and the file of its keys.
type fronts struct {
	api, ollama, agent, shell *api
	keys                      string
}

// clients are the fronts on which somebody sends a text over HTTP.
var clients = map[string]front{
	"REST": {noTools: true, send: func(f fronts, text, tool string, headers []string) reply {
		body := map[string]any{"message": text}
		if tool != "" {
			body["tools"] = []any{map[string]any{"name": tool}}
		}
		return post(f.api, "/conversations", body, headers)
	}},
	"AG-UI": {send: func(f fronts, text, tool string, headers []string) reply {
		tools := []any{}
		if tool != "" {
			tools = append(tools, map[string]any{"name": tool, "description": "Harmless.", "parameters": map[string]any{"type": "object"}, "metadata": map[string]any{"destructive": false}})
		}
		body := map[string]any{
			"threadId": uuid.NewString(), "runId": "r1", "state": map[string]any{}, "tools": tools, "context": []any{}, "forwardedProps": map[string]any{},
			"messages": []any{map[string]any{"id": "m1", "role": "user", "content": text}},
		}
		return post(f.api, "/ag-ui", body, headers, "Accept: text/event-stream")
	}},
	"A2A": {send: func(f fronts, text, _ string, headers []string) reply {
		return post(f.api, "/a2a", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": map[string]any{"message": map[string]any{
			"messageId": uuid.NewString(), "role": "ROLE_USER", "parts": []any{map[string]any{"text": text}}, "metadata": map[string]any{"agent-stop-and-go/by": "dan"},
		}}}, headers)
	}},
	"chat/completions": {send: func(f fronts, text, tool string, headers []string) reply {
		body := map[string]any{"model": "tester", "user": "dan", "messages": []any{map[string]any{"role": "user", "content": text}}}
		return post(f.api, "/v1/chat/completions", withFunction(body, tool), headers)
	}},
	"responses": {send: func(f fronts, text, tool string, headers []string) reply {
		body := map[string]any{"model": "tester", "user": "dan", "input": text}
		if tool != "" {
			body["tools"] = []any{map[string]any{"type": "function", "name": tool, "parameters": map[string]any{"type": "object"}}}
		}
		return post(f.api, "/v1/responses", body, headers)
	}},
	"Ollama": {send: func(f fronts, text, tool string, headers []string) reply {
		body := map[string]any{"model": "tester", "stream": false, "messages": []any{map[string]any{"role": "user", "content": text}}}
		return post(f.ollama, "/api/chat", withFunction(body, tool), headers)
	}},
	// Members that clients of MCP Agent do not have are ignored.
	"MCP Agent": {send: func(f fronts, text, tool string, headers []string) reply {
		body := map[string]any{"client_id": uuid.NewString(), "text": text, "auto_approve": true}
		return post(f.agent, "/api/v1/submit", withFunction(body, tool), headers)
	}},
	"MCP Agent's shell": {send: func(f fronts, text, tool string, headers []string) reply {
		return post(f.shell, "/submit", withFunction(map[string]any{"client_id": uuid.NewString(), "text": text, "autogate": true}, tool), headers)
	}},
	"MCP": {send: func(f fronts, text, _ string, headers []string) reply {
		call := func(method string, params any, more ...string) reply {
			return post(f.api, "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers, append(more, "Accept: application/json, text/event-stream")...)
		}
		r := call("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "x", "version": "1"}})
		if r.Status != http.StatusOK {
			return r
		}
		return call("tools/call", map[string]any{"name": "tester", "arguments": map[string]any{"message": text}}, "Mcp-Session-Id: "+r.Header.Get("Mcp-Session-Id"))
	}},
}

func withFunction(body map[string]any, tool string) map[string]any {
	if tool != "" {
		function := map[string]any{"name": tool, "description": "Harmless.", "parameters": map[string]any{"type": "object"}}
		body["tools"] = []any{map[string]any{"type": "function", "function": function}}
	}
	return body
}

// post sends a body and does not read the reply: every front has its own form of errors.
func post(a *api, path string, body any, headers []string, more ...string) reply {
	r, err := a.raw("POST", path, encoded(body), append(slices.Clone(headers), more...)...)
	if err != nil {
		a.t.Errorf("POST %s: %v", path, err)
	}
	return r
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of texts can be encoded
	}
	return string(data)
}

// gated runs an agent with rules for every class, people behind a proxy, and all fronts.
func gated(t *testing.T) (*home, fronts, *fakeslack.Slack) {
	slack := fakeslack.New()
	t.Cleanup(slack.Close)
	h := newHome(t)
	h.more = map[string]string{"SLACK_APP_TOKEN": fakeslack.AppToken, "SLACK_BOT_TOKEN": fakeslack.BotToken}
	ollama, agent, shell, keys := freePort(t), freePort(t), freePort(t), filepath.Join(h.dir, "keys.json")
	h.extra = fmt.Sprintf(`auth:
  - {type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups, scopes: [read],
     grant: {callers: [converse], approvers: [converse, approve], deciders: [approve], operators: [converse, operate, "read:all"]}}
  - {type: keys, file: %q}
approval:
  rules:
    - {name: never, when: tool == "tick", then: {deny: "Not here."}}
    - {name: deciders, when: tool == "look", then: {ask: {by: ["group:deciders"]}}}
clients: {ollama: {port: %d}, api: {port: %d}, shell: {port: %d}, slack: {api_url: %q}}
`, keys, ollama, agent, shell, slack.API())
	main, _ := h.inside()
	at := func(port int) *api { return newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", port)) }
	return h, fronts{main, at(ollama), at(agent), at(shell), keys}, slack
}

// waitingCalls are the names in the arguments of all calls that wait.
func waitingCalls(a *api) map[string]int {
	out := map[string]int{}
	for _, who := range []string{"X-Groups: operators", "X-Groups: deciders"} {
		after := ""
		for range 20 {
			r := a.do("GET", "/approvals?limit=100"+after, "", "X-Subject: olga", who)
			var list struct {
				Approvals []struct {
					UUID     string
					ToolArgs struct{ Name string } `json:"tool_args"`
				}
				NextCursor string `json:"next_cursor"`
			}
			if err := json.Unmarshal([]byte(r.Raw), &list); err != nil || r.Status != http.StatusOK {
				a.t.Fatalf("%v: %s", err, r.Raw)
			}
			for _, p := range list.Approvals {
				out[p.ToolArgs.Name] = 1
			}
			if list.NextCursor == "" {
				break
			}
			after = "&cursor=" + list.NextCursor
		}
	}
	return out
}

// Every client sends every class of call as every caller. A call runs, asks, or does neither, as
// the rules and the caller's scopes say, whatever client, headers or tools it came with.
func TestNoClientPassesAGate(t *testing.T) {
	t.Parallel()
	h, f, _ := gated(t)
	type cell struct{ front, class, caller string }
	var all []cell
	for front := range clients {
		for class := range classes {
			for caller := range callers {
				all = append(all, cell{front, class, caller})
			}
		}
	}
	answers := make([]reply, len(all))
	var group sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i, c := range all {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			class, tool := classes[c.class], ""
			if class.shadow {
				tool = class.tool
			}
			answers[i] = clients[c.front].send(f, fmt.Sprintf(`call %s {"name":%q}`, class.tool, fmt.Sprint(c)), tool, callers[c.caller].headers)
		})
	}
	group.Wait()
	expected := map[string]int{}
	for _, c := range all {
		if asks := classes[c.class].asks && callers[c.caller].converse && !(classes[c.class].shadow && clients[c.front].noTools); asks {
			expected[fmt.Sprint(c)] = 1
		}
	}
	eventually(t, "all calls run or wait", func() bool {
		return len(waitingCalls(f.api)) >= len(expected) && len(h.tools.ran()) >= len(clients)*5
	})
	waits, ran := waitingCalls(f.api), h.tools.ran()
	for i, c := range all {
		class, caller, name := classes[c.class], callers[c.caller], fmt.Sprint(c)
		runs, refused := 0, !caller.converse || class.shadow && clients[c.front].noTools
		if class.runs && !refused {
			runs = 1
		}
		if ran[name] != runs || waits[name] != expected[name] {
			t.Errorf("%v: ran %d times and waits %d times, want %d and %d: %d %.300s", c, ran[name], waits[name], runs, expected[name], answers[i].Status, answers[i].Raw)
		}
		if a := answers[i]; refused != (a.Status >= 400 || strings.Contains(a.Raw, `"error":{`) || c.front == "MCP" && strings.Contains(a.Raw, `"isError":true`)) {
			t.Errorf("%v: status %d: %.300s", c, a.Status, a.Raw)
		}
	}
	if len(ran) != len(clients)*5 || len(waits) != len(expected) {
		t.Errorf("%d names ran, %d wait, want %d", len(ran), len(waits), len(expected))
	}
}

// ran are the calls that really ran, by their names.
func (s *tools) ran() map[string]int {
	out := map[string]int{}
	for _, tool := range []string{"note_add", "note_list", "look", "tick"} {
		for _, c := range s.called(tool) {
			out[fmt.Sprint(c.Args["name"])]++
		}
	}
	return out
}

// deciding are ways to say yes to a call that waits.
var deciding = map[string]func(f fronts, uuid, id string, headers []string) reply{
	"REST": func(f fronts, uuid, _ string, headers []string) reply {
		return post(f.api, "/approvals/"+uuid, map[string]any{"approved": true, "by": "dan"}, headers)
	},
	"bulk": func(f fronts, uuid, _ string, headers []string) reply {
		return post(f.api, "/approvals", map[string]any{"decisions": []any{map[string]any{"uuid": uuid, "approved": true}}}, headers)
	},
	"command": func(f fronts, uuid, id string, headers []string) reply {
		return post(f.api, "/commands", map[string]any{"text": "!approve #" + uuid, "conversation_id": id, "shown": []string{uuid}}, headers)
	},
	"message": func(f fronts, _, id string, headers []string) reply {
		return post(f.api, "/conversations/"+id+"/messages", map[string]any{"message": "approved"}, headers)
	},
	"A2A": func(f fronts, approval, _ string, headers []string) reply {
		part := map[string]any{"data": map[string]any{"type": "agent-stop-and-go/approval-answer", "uuid": approval, "approved": true, "by": "dan"}}
		return post(f.api, "/a2a", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": map[string]any{"message": map[string]any{
			"messageId": uuid.NewString(), "role": "ROLE_USER", "parts": []any{part}, "metadata": map[string]any{"agent-stop-and-go/by": "dan"}}}}, headers)
	},
	"AG-UI": func(f fronts, uuid, id string, headers []string) reply {
		return post(f.api, "/ag-ui", map[string]any{
			"threadId": id, "runId": "r2", "state": map[string]any{}, "tools": []any{}, "context": []any{}, "forwardedProps": map[string]any{}, "messages": []any{},
			"resume": []any{map[string]any{"interruptId": uuid, "status": "resolved", "payload": map[string]any{"approved": true}}},
		}, headers, "Accept: text/event-stream")
	},
	"MCP Agent": func(f fronts, uuid, _ string, headers []string) reply {
		return post(f.agent, "/api/v1/gate/"+uuid, map[string]any{"approve": true}, headers)
	},
	"MCP Agent's shell": func(f fronts, uuid, _ string, headers []string) reply {
		return post(f.shell, "/gate_response", map[string]any{"gate_id": uuid, "decision": "allow"}, headers)
	},
	"command of MCP Agent": func(f fronts, uuid, id string, headers []string) reply {
		return post(f.agent, "/api/v1/submit", map[string]any{"client_id": id, "text": "!approve #" + uuid}, headers)
	},
}

// Nobody says yes in any way who may not: not the requester without the scope, and nobody else with
// scopes of other kinds or headers. Then the group that may does, and the call runs once.
func TestNobodyDecidesWhoMayNot(t *testing.T) {
	t.Parallel()
	h, f, _ := gated(t)
	ann := callers["requester"].headers
	for _, tool := range []string{"note_add", "look"} {
		asked := f.api.ask(fmt.Sprintf(`call %s {"name":"x"}`, tool), ann...)
		uuid, id := asked.Result.Approval.UUID, asked.Conversation.ID
		for way, decide := range deciding {
			for name, caller := range callers {
				if r := decide(f, uuid, id, caller.headers); len(h.tools.ran()) > 0 {
					t.Fatalf("%s by %s: %s ran: %d %s", way, name, tool, r.Status, r.Raw)
				}
			}
		}
		if got := f.api.want(200, "GET", "/conversations/"+id, "", ann...); got.Conversation.Status != "waiting_approval" {
			t.Errorf("%s: %+v", tool, got.Conversation)
		}
	}
	dan := []string{"X-Subject: dan", "X-Groups: deciders"}
	for _, p := range f.api.want(200, "GET", "/conversations?limit=10", "", ann...).Conversations {
		for _, open := range f.api.want(200, "GET", "/conversations/"+p.ID, "", ann...).Conversation.PendingApprovals {
			f.api.do("POST", "/approvals/"+open.UUID, `{"approved":true}`, dan...)
		}
	}
	eventually(t, "the call that the group may decide has run", func() bool { return len(h.tools.called("look")) == 1 })
	if n := len(h.tools.called("note_add")); n > 0 {
		t.Errorf("the other one ran %d times", n)
	}
}

var codeIn = regexp.MustCompile("approve ([A-Z0-9-]+)")

// A one-time code is of the person to whom it was shown: nobody else decides with it, who may decide or
// not. It has no effect twice.
func TestNobodyDecidesWithTheCodeOfSomebodyElse(t *testing.T) {
	t.Parallel()
	h, f, _ := gated(t)
	for name, front := range map[string]struct {
		api  *api
		path string
	}{"chat/completions": {f.api, "/v1/chat/completions"}, "Ollama": {f.ollama, "/api/chat"}} {
		messages := []any{map[string]any{"role": "user", "content": fmt.Sprintf(`call note_add {"name":%q}`, name)}}
		send := func(headers []string) reply {
			return post(front.api, front.path, map[string]any{"model": "tester", "stream": false, "messages": messages}, headers)
		}
		for _, caller := range []string{"requester", "operator", "foreign"} {
			if r := send(callers[caller].headers); codeIn.MatchString(r.Raw) {
				t.Errorf("%s: the %s is shown a code: %s", name, caller, r.Raw)
			}
		}
		shown := send(callers["approver"].headers)
		code := codeIn.FindStringSubmatch(shown.Raw)
		if code == nil {
			t.Fatalf("%s: no code in %d %s", name, shown.Status, shown.Raw)
		}
		messages = append(messages, map[string]any{"role": "assistant", "content": contentOf(t, shown.Raw)}, map[string]any{"role": "user", "content": "approve " + code[1]})
		other := append([]string{"X-Subject: eve", "X-Groups: approvers"}, claims...)
		for _, headers := range [][]string{nil, callers["forged"].headers, callers["reader"].headers, callers["requester"].headers, callers["forged requester"].headers, callers["operator"].headers, callers["foreign"].headers, other} {
			if r := send(headers); h.tools.ran()[name] > 0 {
				t.Fatalf("%s: the code was taken from %v: %d %s", name, headers, r.Status, r.Raw)
			}
		}
		if r := send(callers["approver"].headers); r.Status != http.StatusOK || h.tools.ran()[name] != 1 {
			t.Errorf("%s: the code of the approver: %d %s", name, r.Status, r.Raw)
		}
		send(callers["approver"].headers)
		if n := h.tools.ran()[name]; n != 1 {
			t.Errorf("%s: it ran %d times", name, n)
		}
	}
}

// contentOf returns the text of a reply in one piece.
func contentOf(t *testing.T, raw string) string {
	t.Helper()
	var r struct {
		Message struct{ Content string }
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if len(r.Choices) > 0 {
		return r.Choices[0].Message.Content
	}
	return r.Message.Content
}
