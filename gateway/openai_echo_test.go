package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

// unasked are the members of a response that repeat a request, as they are if that says nothing.
const unasked = `{"model":"helper","instructions":null,"previous_response_id":null,"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"truncation":"auto",
	"text":{"format":{"type":"text"}},"metadata":{},"temperature":1,"top_p":1,"presence_penalty":0,"frequency_penalty":0,"top_logprobs":0,"reasoning":{"effort":null,"summary":null},
	"user":null,"max_output_tokens":null,"max_tool_calls":null,"store":true,"background":false,"service_tier":"default","safety_identifier":null,"prompt_cache_key":null}`

// What a request says, the response to its creation, each event with a response, and the response that is read later say
// too, at any gateway.
func TestAResponseRepeatsItsRequest(t *testing.T) {
	const fn = `{"type":"function","name":"send","description":"Sends","parameters":{"type":"object"},"strict":true}`
	long := strings.Replace(fn, "Sends", strings.Repeat("Sends. ", 400), 1)
	for name, c := range map[string]struct{ asks, says string }{
		"nothing":            {``, ``},
		"instructions":       {`"instructions":"Be brief"`, ``},
		"tools in the store": {`"tools":[` + long + `]`, ``},
		"tools":              {`"tools":[` + fn + `]`, ``},
		"none":               {`"tools":[` + fn + `],"tool_choice":"none"`, ``},
		"required":           {`"tools":[` + fn + `],"tool_choice":"required","parallel_tool_calls":false`, ``},
		"a function":         {`"tools":[` + fn + `],"tool_choice":{"type":"function","name":"send"}`, ``},
		"allowed tools": {`"tools":[` + fn + `],"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"send"}]}`,
			`"tools":[` + fn + `],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"send"}]}`},
		"an mcp tool, without its secrets": {`"tools":[{"type":"mcp","server_label":"resources","server_url":"https://u:p@x.example/mcp?token=s3cret","authorization":"s3cret","headers":{"X-Key":"s3cret"}}]`,
			`"tools":[{"type":"mcp","server_label":"resources","server_url":"https://x.example/mcp?token=…"}]`},
		"metadata":          {`"metadata":{"k":"v"}`, ``},
		"sampling":          {`"temperature":0,"top_p":0.5,"presence_penalty":0.25,"frequency_penalty":-0.5,"top_logprobs":3`, ``},
		"limits":            {`"max_output_tokens":50,"max_tool_calls":3`, ``},
		"truncation":        {`"truncation":"disabled"`, ``},
		"a schema":          {`"text":{"format":{"type":"json_schema","name":"n","description":"d","strict":true,"schema":{"type":"object"}},"verbosity":"low"}`, ``},
		"reasoning":         {`"reasoning":{"effort":"high","summary":"auto"}`, ``},
		"who":               {`"user":"u","safety_identifier":"s","prompt_cache_key":"p"`, ``},
		"a tier":            {`"service_tier":"flex"`, `"service_tier":"default"`},
		"explicit defaults": {`"tool_choice":null,"store":true,"metadata":null,"reasoning":null`, ` `},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMany(t)
			one := chatting(t, m)
			other := chatting(t, m, func(d *gateway.Deps) { d.Blobs = one.blobs })
			asks, says := c.asks, c.says
			if says == "" {
				says = asks
			}
			if asks != "" {
				asks = "," + asks
			}
			want := merged(t, unasked, "{"+strings.TrimSpace(says)+"}")
			check := func(where string, got map[string]any) {
				t.Helper()
				for member, value := range want {
					if g, w := jsonOf(t, got[member]), jsonOf(t, value); g != w {
						t.Errorf("%s: %s is %.200s, want %.200s", where, member, g, w)
					}
				}
			}
			created := one.want(200, one.do("POST", "/v1/responses", `{"model":"helper","input":"hi"`+asks+`}`))
			check("created", created.body)
			id := created.text("id")
			check("read", other.want(200, other.do("GET", "/v1/responses/"+id, "")).body)
			events := one.do("POST", "/v1/responses", `{"model":"helper","input":"hi again","stream":true`+asks+`}`)
			id = ""
			for _, r := range responsesIn(t, events.raw) {
				check("event", r)
				id, _ = r["id"].(string)
			}
			if id == "" {
				t.Fatalf("no response in %s", events.raw)
			}
			for _, r := range responsesIn(t, other.do("GET", "/v1/responses/"+id+"?stream=true", "").raw) {
				check("event read", r)
			}
			for _, s := range m.scripts {
				if sent, _ := json.Marshal(s.sent); strings.Contains(string(sent), "s3cret") {
					t.Errorf("a secret is in the record: %s", sent)
				}
				if c.asks == "" && !s.sent[0].Echo.IsZero() {
					t.Errorf("%s is kept of nothing", s.sent[0].Echo.Raw)
				}
			}
		})
	}
}

// So does a response to the result of a call, whose request has its own members.
func TestAResponseToAResultRepeatsItsRequest(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	c := chatting(t, m)
	first := c.want(200, c.do("POST", "/v1/responses", `{"model":"helper","input":"hi","metadata":{"n":"1"}}`, "X-Approvals: mcp"))
	output, _ := first.at("output").([]any)
	asked := output[len(output)-1].(map[string]any)["id"].(string)
	body := fmt.Sprintf(`{"model":"helper","previous_response_id":%q,"metadata":{"n":"2"},"instructions":"Now","input":[{"type":"mcp_approval_response","approval_request_id":%q,"approve":true}]}`, first.text("id"), asked)
	second := c.want(200, c.do("POST", "/v1/responses", body))
	for _, r := range []reply{second, c.want(200, c.do("GET", "/v1/responses/"+second.text("id"), ""))} {
		if r.text("metadata", "n") != "2" || r.text("instructions") != "Now" || r.text("previous_response_id") != first.text("id") {
			t.Errorf("%s", r.raw)
		}
	}
	if r := c.want(200, c.do("GET", "/v1/responses/"+first.text("id"), "")); r.text("metadata", "n") != "1" {
		t.Errorf("%s", r.raw)
	}
	for _, s := range m.scripts {
		for _, d := range s.decided {
			if d.Echo.IsZero() || !(contract.ApprovalResult{Echo: d.Echo}).Public().Echo.IsZero() {
				t.Errorf("%+v", d)
			}
		}
	}
}

func merged(t *testing.T, texts ...string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, text := range texts {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatal(err, text)
		}
	}
	return out
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// responsesIn returns the responses in the events of a stream.
func responsesIn(t *testing.T, stream string) (out []map[string]any) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(stream))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: {")
		if !ok {
			continue
		}
		if r, ok := merged(t, "{"+data)["response"].(map[string]any); ok {
			out = append(out, r)
		}
	}
	return out
}
