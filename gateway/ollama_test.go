package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/clienttool"
)

// ollamaClient is a client of the port of Ollama's API.
type ollamaClient struct {
	t *testing.T
	http.Handler
}

func ollamaOf(t *testing.T, m *many, change ...func(*gateway.Deps)) ollamaClient {
	return ollamaClient{t, chatting(t, m, change...).Ollama()}
}

// lines sends a request, and returns the objects of the reply.
func (c ollamaClient) lines(status int, method, path, body string, headers ...string) (out []map[string]any) {
	c.t.Helper()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, newRequest(method, path, body, headers...))
	if w.Code != status {
		c.t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
	}
	want := "application/json"
	for scanner := bufio.NewScanner(w.Body); scanner.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			c.t.Fatalf("%v in %s", err, scanner.Text())
		}
		if out = append(out, line); line["done"] == false {
			want = "application/x-ndjson"
		}
	}
	if kind := w.Header().Get("Content-Type"); len(out) > 0 && !strings.HasPrefix(kind, want) && status == 200 {
		c.t.Errorf("%s %s: the type is %s", method, path, kind)
	}
	return out
}

func (c ollamaClient) one(status int, method, path, body string, headers ...string) map[string]any {
	c.t.Helper()
	all := c.lines(status, method, path, body, headers...)
	if len(all) != 1 {
		c.t.Fatalf("%s %s: %v", path, body, all)
	}
	return all[0]
}

// at reads a member of a line: at(line, "message.content").
func at(v any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch inside := v.(type) {
		case map[string]any:
			v = inside[key]
		case []any:
			var n int
			fmt.Sscan(key, &n)
			if n >= len(inside) {
				return nil
			}
			v = inside[n]
		default:
			return nil
		}
	}
	return v
}

// Each statement of Ollama's docs/api.md (v0.17.4) about what a client sends and gets, for what an
// agent offers.
func TestWhatTheDocumentOfOllamaSays(t *testing.T) {
	c := ollamaOf(t, newMany(t))
	hello := `"messages":[{"role":"user","content":"hi"}]`
	const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		want               map[string]any // of the last object
		streams            bool
	}{
		"a chat streams by default":              {"POST", "/api/chat", `{"model":"helper",` + hello + `}`, 200, map[string]any{"done": true, "done_reason": "stop", "message.role": "assistant", "message.content": "", "model": "helper"}, true},
		"streaming can be disabled":              {"POST", "/api/chat", `{"model":"helper","stream":false,` + hello + `}`, 200, map[string]any{"done": true, "done_reason": "stop", "message.content": "answer to hi"}, false},
		"the default tag is latest":              {"POST", "/api/chat", `{"model":"helper:latest","stream":false,` + hello + `}`, 200, map[string]any{"model": "helper:latest", "message.content": "answer to hi"}, false},
		"options have no effect":                 {"POST", "/api/chat", `{"model":"helper","stream":false,"think":false,"options":{"temperature":0,"num_ctx":8192},"keep_alive":"5m",` + hello + `}`, 200, map[string]any{"message.content": "answer to hi"}, false},
		"an empty list of messages loads":        {"POST", "/api/chat", `{"model":"helper","messages":[]}`, 200, map[string]any{"done": true, "done_reason": "load", "message.role": "assistant", "message.content": ""}, false},
		"and with keep_alive 0 it unloads":       {"POST", "/api/chat", `{"model":"helper","messages":[],"keep_alive":0}`, 200, map[string]any{"done": true, "done_reason": "unload"}, false},
		"images are base64":                      {"POST", "/api/chat", `{"model":"helper","stream":false,"messages":[{"role":"user","content":"what is this?","images":["` + picture + `"]}]}`, 200, map[string]any{"message.content": "answer to what is this?\n\n[image image 1]"}, false},
		"a prompt streams by default":            {"POST", "/api/generate", `{"model":"helper","prompt":"hi"}`, 200, map[string]any{"done": true, "done_reason": "stop", "response": ""}, true},
		"a prompt in one reply":                  {"POST", "/api/generate", `{"model":"helper","prompt":"hi","stream":false,"raw":true}`, 200, map[string]any{"done": true, "response": "answer to hi"}, false},
		"a prompt with images":                   {"POST", "/api/generate", `{"model":"helper","prompt":"hi","stream":false,"images":["` + picture + `"]}`, 200, map[string]any{"response": "answer to hi\n\n[image image 1]"}, false},
		"a prompt with a system message":         {"POST", "/api/generate", `{"model":"helper","prompt":"hi","stream":false,"system":"be brief"}`, 200, map[string]any{"response": "answer to hi"}, false},
		"an empty prompt loads":                  {"POST", "/api/generate", `{"model":"helper"}`, 200, map[string]any{"done": true, "done_reason": "load", "response": ""}, false},
		"an empty prompt with keep_alive unload": {"POST", "/api/generate", `{"model":"helper","keep_alive":"0"}`, 200, map[string]any{"done_reason": "unload"}, false},
		"JSON mode":                              {"POST", "/api/chat", `{"model":"helper","stream":false,"format":"json",` + hello + `}`, 200, map[string]any{"message.content": "answer to hi"}, false},
		"structured outputs":                     {"POST", "/api/generate", `{"model":"helper","stream":false,"prompt":"hi","format":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`, 200, map[string]any{"response": "answer to hi"}, false},
		"a chat with a schema":                   {"POST", "/api/chat", `{"model":"helper","stream":false,"format":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},` + hello + `}`, 200, map[string]any{"message.content": "answer to hi"}, false},
		"width and height":                       {"POST", "/api/generate", `{"model":"helper","stream":false,"prompt":"hi","width":1024,"height":768,"steps":4}`, 200, map[string]any{"response": "answer to hi"}, false},
		"local models":                           {"GET", "/api/tags", "", 200, map[string]any{"models.0.name": "helper:latest", "models.0.model": "helper:latest", "models.0.details.format": "agent"}, false},
		"running models":                         {"GET", "/api/ps", "", 200, map[string]any{"models.0.name": "helper:latest", "models.0.size_vram": 0.0}, false},
		"a model":                                {"POST", "/api/show", `{"model":"helper"}`, 200, map[string]any{"details.family": "agent", "capabilities.0": "completion", "capabilities.1": "tools", "model_info.general.architecture": nil}, false},
		"a model by its older member":            {"POST", "/api/show", `{"name":"helper"}`, 200, map[string]any{"details.family": "agent"}, false},
		"the version":                            {"GET", "/api/version", "", 200, map[string]any{"version": "0.17.4"}, false},

		"model is required":       {"POST", "/api/chat", `{` + hello + `}`, 400, map[string]any{"error": "model is required"}, false},
		"an unknown model":        {"POST", "/api/generate", `{"model":"llama3.2","prompt":"x"}`, 404, map[string]any{"error": "model 'llama3.2' not found"}, false},
		"an unknown model, shown": {"POST", "/api/show", `{"model":"nope"}`, 404, map[string]any{"error": "model 'nope' not found"}, false},
		"no JSON":                 {"POST", "/api/chat", `{`, 400, nil, false},
		"no body":                 {"POST", "/api/chat", ``, 400, map[string]any{"error": "missing request body"}, false},
		"an unknown format":       {"POST", "/api/chat", `{"model":"helper","format":"xml",` + hello + `}`, 400, nil, false},
		"a suffix":                {"POST", "/api/generate", `{"model":"helper","prompt":"a","suffix":"b"}`, 400, map[string]any{"error": "helper does not support insert"}, false},
		"another role":            {"POST", "/api/chat", `{"model":"helper","messages":[{"role":"owner","content":"x"}]}`, 400, nil, false},
		"no image":                {"POST", "/api/chat", `{"model":"helper","messages":[{"role":"user","content":"x","images":["%%%"]}]}`, 400, nil, false},
		"an address as image":     {"POST", "/api/chat", `{"model":"helper","messages":[{"role":"user","content":"x","images":["https://example.com/a.png"]}]}`, 400, nil, false},
		"a foreign context":       {"POST", "/api/generate", `{"model":"helper","prompt":"x","context":[1,2,3]}`, 400, nil, false},
		"a made-up context":       {"POST", "/api/generate", `{"model":"helper","prompt":"x","context":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}`, 404, nil, false},

		"create": {"POST", "/api/create", `{}`, 501, nil, false}, "copy": {"POST", "/api/copy", `{}`, 501, nil, false}, "delete": {"DELETE", "/api/delete", `{}`, 501, nil, false},
		"pull": {"POST", "/api/pull", `{}`, 501, nil, false}, "push": {"POST", "/api/push", `{}`, 501, nil, false}, "blobs": {"POST", "/api/blobs/sha256:1", `{}`, 501, nil, false},
		"embed": {"POST", "/api/embed", `{}`, 501, nil, false}, "embeddings": {"POST", "/api/embeddings", `{}`, 501, nil, false},
		"something else": {"GET", "/api/nothing", "", 404, nil, false},
	} {
		for _, prefix := range []string{"", "/v1"} { // the second for clients whose base URL ends so
			t.Run(name+prefix, func(t *testing.T) {
				c := ollamaClient{t, c.Handler}
				all := c.lines(test.status, test.method, prefix+test.path, test.body)
				last := all[len(all)-1]
				for path, want := range test.want {
					if got := at(last, path); got != want {
						t.Errorf("%s is %v, want %v in %v", path, got, want, last)
					}
				}
				if text, _ := last["error"].(string); test.status >= 400 && text == "" {
					t.Errorf("no error: %v", last)
				}
				if !test.streams {
					if len(all) != 1 {
						t.Errorf("%d lines", len(all))
					}
					return
				}
				text := ""
				for _, line := range all[:len(all)-1] {
					for _, member := range []string{"message.content", "response"} {
						piece, _ := at(line, member).(string)
						text += piece
					}
					if line["done"] != false || line["done_reason"] != nil || line["total_duration"] != nil {
						t.Errorf("%v", line)
					}
				}
				if text != "answer to hi" {
					t.Errorf("%q", text)
				}
			})
		}
	}
}

var nineDigits = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$`)

// All durations are in nanoseconds, and clients divide by them. Enchanted reads times with nine
// digits (kevinhermawan/OllamaKit at 3189c6d1, Sources/OllamaKit/Extensions/JSONDecoder+Default.swift).
func TestTheLastLineHasFigures(t *testing.T) {
	c := ollamaOf(t, newMany(t))
	for _, stream := range []string{"true", "false"} {
		all := c.lines(200, "POST", "/api/chat", `{"model":"helper","stream":`+stream+`,"messages":[{"role":"user","content":"hi"}]}`)
		last := all[len(all)-1]
		for _, member := range []string{"total_duration", "load_duration", "prompt_eval_duration", "eval_duration"} {
			if n, _ := last[member].(float64); n < 1 || n > 1e11 {
				t.Errorf("%s is %v", member, last[member])
			}
		}
		for _, member := range []string{"prompt_eval_count", "eval_count"} {
			if _, ok := last[member].(float64); !ok {
				t.Errorf("%s is %v", member, last[member])
			}
		}
		for _, line := range all {
			if text, _ := line["created_at"].(string); !nineDigits.MatchString(text) {
				t.Error(text)
			}
		}
	}
	if text, _ := at(c.one(200, "GET", "/api/tags", ""), "models.0.modified_at").(string); !nineDigits.MatchString(text) {
		t.Error(text)
	}
}

func TestWhatIsNotOfferedIsNoFailureInTheLog(t *testing.T) {
	a := chatting(t, newMany(t))
	c := ollamaClient{t, a.Ollama()}
	c.one(501, "POST", "/api/pull", `{}`)
	if log := a.logs.String(); !strings.Contains(log, `"status":501`) || strings.Contains(log, `"ERROR"`) {
		t.Error(log)
	}
}

func TestOllamaIsRunning(t *testing.T) {
	c := ollamaOf(t, newMany(t))
	for _, method := range []string{"GET", "HEAD"} {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, newRequest(method, "/", ""))
		if w.Code != 200 || w.Body.String() != "Ollama is running" {
			t.Errorf("%s: %d %q", method, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, newRequest("GET", "/conversations", ""))
	if w.Code != 404 {
		t.Errorf("the port serves the rest of the API: %d", w.Code)
	}
}

func TestAChatOverOllamaIsOneConversation(t *testing.T) {
	m := newMany(t)
	c := ollamaOf(t, m)
	c.lines(200, "POST", "/api/chat", `{"model":"helper","messages":[{"role":"user","content":"hi"}]}`)
	got := c.one(200, "POST", "/api/chat", `{"model":"helper:latest","stream":false,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"answer to hi"},{"role":"user","content":"more"}]}`)
	if at(got, "message.content") != "answer to more" || len(m.scripts) != 1 {
		t.Errorf("%v, %d conversations", got, len(m.scripts))
	}
	first := c.one(200, "POST", "/api/generate", `{"model":"helper","stream":false,"prompt":"hi"}`)
	c.one(200, "POST", "/api/generate", `{"model":"helper","stream":false,"prompt":"hi"}`)
	if len(m.scripts) != 3 {
		t.Errorf("%d conversations", len(m.scripts))
	}
	context, err := json.Marshal(first["context"])
	if err != nil {
		t.Fatal(err)
	}
	c.one(200, "POST", "/api/generate", `{"model":"helper","stream":false,"prompt":"go on","context":`+string(context)+`}`)
	if len(m.scripts) != 3 {
		t.Errorf("%d conversations", len(m.scripts))
	}
}

func TestLinksOfOllamasPortAreOfTheOther(t *testing.T) {
	for host, want := range map[string]string{"localhost:11434": "localhost:8080", "localhost": "localhost:8080", "[::1]": "[::1]:8080", "[::1]:11434": "[::1]:8080"} {
		m := newMany(t)
		withApprovals(m)
		c := ollamaOf(t, m, func(d *gateway.Deps) { d.Port = 8080 })
		got := c.one(200, "POST", "/api/chat", `{"model":"helper","stream":false,"messages":[{"role":"user","content":"drop all"}]}`, onLoopback, "Host: "+host)
		if text, _ := at(got, "message.content").(string); !strings.Contains(text, "http://"+want+"/#/a/") {
			t.Errorf("%s: %s", host, text)
		}
	}
}

func TestACodeDecidesOverOllama(t *testing.T) {
	for _, word := range []string{"approve", "reject"} {
		m := newMany(t)
		withApprovals(m)
		c := ollamaOf(t, m, func(d *gateway.Deps) { d.Port = 8080 })
		ask := func(messages string) string {
			got := c.one(200, "POST", "/api/chat", `{"model":"helper","stream":false,"messages":[`+messages+`]}`, onLoopback, "Host: localhost:11434")
			text, _ := at(got, "message.content").(string)
			return text
		}
		card := ask(`{"role":"user","content":"drop all"}`)
		code := codeIn.FindStringSubmatch(card)
		if code == nil || !strings.Contains(card, "http://localhost:8080/#/a/") {
			t.Fatalf("the card is %q", card)
		}
		quoted, err := json.Marshal(card)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := ask(`{"role":"user","content":"drop all"},{"role":"assistant","content":`+string(quoted)+`},{"role":"user","content":"`+word+" "+code[1]+`"}`), fmt.Sprintf("approved: %t", word == "approve"); got != want {
			t.Errorf("%s: %q", word, got)
		}
		for _, s := range m.scripts {
			for _, d := range s.decided {
				if d.Via != "ollama" {
					t.Errorf("%+v", d)
				}
			}
		}
	}
}

// Pages of others, other hosts and callers without proof are refused as on the port of the API.
func TestThePortOfOllamaHasTheSameDoor(t *testing.T) {
	c := ollamaOf(t, newMany(t), func(d *gateway.Deps) { d.Callers = badgesOnly })
	body := `{"model":"helper","stream":false,"messages":[{"role":"user","content":"hi"}]}`
	alice := badge(person("alice", "converse"))
	c.one(403, "POST", "/api/chat", body, "Origin: https://evil.example.com", alice)
	c.one(421, "POST", "/api/chat", body, "Host: evil.example.com", alice)
	c.one(415, "POST", "/api/chat", body, "Origin: http://localhost:8080", "Content-Type: text/plain", alice)
	c.one(200, "POST", "/api/chat", body, "Content-Type: application/x-www-form-urlencoded", alice) // as curl -d sends it
	c.one(401, "POST", "/api/chat", body)
	c.one(401, "GET", "/api/tags", "")
	c.one(403, "POST", "/api/chat", body, badge(person("alice", "read")))
	c.one(200, "GET", "/api/version", "")
}

// The form of a chat is that which the client expects, by its name or by the path.
func TestClientsGetTheFormThatTheyExpect(t *testing.T) {
	c := ollamaOf(t, newMany(t))
	body := `{"model":"helper","stream":false,"messages":[{"role":"user","content":"hi"}]}`
	for agent, openAI := range map[string]bool{"Enchanted/1.0": false, "ollama/0.17 (amd64 linux)": false, "LM Studio/0.3": true, "open-webui": true, "curl/8": true, "": true} {
		got := c.one(200, "POST", "/v1/chat/completions", body, "User-Agent: "+agent)
		if (got["choices"] != nil) != openAI || (got["message"] != nil) == openAI {
			t.Errorf("%s: %v", agent, got)
		}
		if got := c.one(200, "POST", "/v1/api/chat", body, "User-Agent: "+agent); got["message"] == nil {
			t.Errorf("%s: %v", agent, got)
		}
		failed := c.one(404, "POST", "/v1/chat/completions", strings.Replace(body, "helper", "x", 1), "User-Agent: "+agent)
		if _, object := failed["error"].(map[string]any); object != openAI {
			t.Errorf("%s: %v", agent, failed)
		}
	}
	if got := c.one(200, "GET", "/v1/models", ""); at(got, "data.0.id") != "helper" {
		t.Errorf("%v", got)
	}
}

// TestRequestsOfOllamasClients sends what clients send, and looks at what they read. The files say
// from which sources they were rebuilt.
func TestRequestsOfOllamasClients(t *testing.T) {
	files, err := filepath.Glob("testdata/ollama/*.json")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var client struct {
			Source   string
			Requests []struct {
				Method, Path string
				Headers      []string
				Body         json.RawMessage
				Status       int
				Reads        map[string]any // of the last object; a list of one is any value of its type
			}
		}
		if err := json.Unmarshal(data, &client); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		c := ollamaOf(t, newMany(t))
		for _, r := range client.Requests {
			if r.Method == "HEAD" {
				w := httptest.NewRecorder()
				c.ServeHTTP(w, newRequest(r.Method, r.Path, ""))
				if w.Code != r.Status {
					t.Errorf("%s: %s %s: %d", file, r.Method, r.Path, w.Code)
				}
				continue
			}
			all := c.lines(r.Status, r.Method, r.Path, string(r.Body), r.Headers...)
			last := all[len(all)-1]
			for path, want := range r.Reads {
				got := at(last, path)
				if any, ok := want.([]any); ok {
					if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", any[0]) {
						t.Errorf("%s: %s: %s is %v", file, r.Path, path, got)
					}
				} else if got != want {
					t.Errorf("%s: %s: %s is %v, want %v", file, r.Path, path, got, want)
				}
			}
		}
	}
}

// withClientTool has the agent call a tool of the client for each message, and end with its result.
func withClientTool(m *many) {
	m.work = func(s *script) func(contract.MessageSignal) {
		s.onDecide = func(uuid string, d contract.DecideSignal) {
			var result clienttool.Result
			_ = json.Unmarshal(d.Content.Raw, &result)
			s.finish(contract.MessageSignal{RequestID: d.RequestID, Name: uuid}, "the tool said "+result.Content)
		}
		return func(msg contract.MessageSignal) {
			s.begin(msg)
			s.ask(msg, contract.PendingApproval{
				UUID: contract.NameUUID(s.view.ID, fmt.Sprint("call", len(s.sent))), ToolName: "get_weather", Reason: contract.ReasonClientTool,
				ToolArgs: contract.JSON{Raw: json.RawMessage(`{"city":"Tokyo"}`)},
			})
		}
	}
}

// A result of a call has the name of the tool only, in the document, and an ID in newer clients.
func TestToolsOfOllamasClients(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"get_weather","description":"the weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`
	question := `{"role":"user","content":"what is the weather in tokyo?"}`
	for _, id := range []bool{false, true} {
		m := newMany(t)
		withClientTool(m)
		c := ollamaOf(t, m)
		all := c.lines(200, "POST", "/api/chat", `{"model":"helper","messages":[`+question+`],`+tools+`}`)
		line := all[len(all)-2]
		if at(line, "message.tool_calls.0.function.name") != "get_weather" || at(line, "message.tool_calls.0.function.arguments.city") != "Tokyo" || all[len(all)-1]["done_reason"] != "stop" {
			t.Fatalf("%v", all)
		}
		result := `{"role":"tool","content":"11 degrees celsius","tool_name":"get_weather"}`
		if id {
			result = fmt.Sprintf(`{"role":"tool","content":"11 degrees celsius","tool_call_id":%q}`, at(line, "message.tool_calls.0.id"))
		}
		called := `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"Tokyo"}}}]}`
		got := c.one(200, "POST", "/api/chat", `{"model":"helper","stream":false,"messages":[`+question+`,`+called+`,`+result+`],`+tools+`}`)
		if at(got, "message.content") != "the tool said 11 degrees celsius" || len(m.scripts) != 1 {
			t.Errorf("%v", got)
		}
		if failed := c.one(400, "POST", "/api/chat", `{"model":"helper","stream":false,"messages":[{"role":"user","content":"elsewhere"},`+called+`,{"role":"tool","content":"x","tool_name":"get_weather"}]}`); failed["error"] == "" {
			t.Errorf("%v", failed)
		}
	}
}
