package llm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

// answers is a transport that answers every request with the same text.
type answers string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
		"message": map[string]any{"role": "assistant", "content": string(a)}, "finish_reason": "stop",
	}}})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))), Request: r,
	}, nil
}

// local returns the reply of a model with TextToolCalls that answers with this text.
func local(t testing.TB, text string) llm.Reply {
	t.Helper()
	router := router.New(router.Options{
		HTTPClient: &http.Client{Transport: answers(text)},
		Models: []llm.Entry{{
			Name: "local", Provider: contract.ProviderCompatible, Model: "m", BaseURL: "http://localhost/v1", TextToolCalls: true,
		}},
	})
	r, err := router.Generate(t.Context(), llm.Request{Model: "local", Messages: []contract.Message{sample.User("hi")}, Tools: []contract.Tool{
		sample.Tool("ping", "", ``, false),
		sample.Tool("files.read", "", `{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}}}`, false),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCallsWrittenAsText(t *testing.T) {
	const fence = "```"
	ping := func(arguments string) llm.Call {
		return llm.Call{Name: "ping", Arguments: json.RawMessage(arguments)}
	}
	read := func(arguments string) llm.Call {
		return llm.Call{Name: "files.read", Arguments: json.RawMessage(arguments)}
	}
	for name, tt := range map[string]struct {
		said, text string
		calls      []llm.Call
	}{
		"an object":              {`{"name":"ping","arguments":{"a":1}}`, "", []llm.Call{ping(`{"a":1}`)}},
		"parameters":             {`{"name": "ping", "parameters": {}}`, "", []llm.Call{ping(`{}`)}},
		"over several lines":     {"{\n  \"name\": \"ping\",\n  \"arguments\": {\"a\": 1}\n}\n", "", []llm.Call{ping(`{"a": 1}`)}},
		"arguments as a text":    {`{"name":"ping","arguments":"{\"a\":1}"}`, "", []llm.Call{ping(`{"a":1}`)}},
		"as the API has them":    {`{"id":"x","type":"function","function":{"name":"ping","arguments":"{}"}}`, "", []llm.Call{ping(`{}`)}},
		"a list":                 {`[{"name":"ping","arguments":{}},{"name":"files.read","arguments":{"path":"a"}}]`, "", []llm.Call{ping(`{}`), read(`{"path":"a"}`)}},
		"line by line":           {"{\"name\":\"ping\",\"arguments\":{}}\n{\"name\":\"ping\",\"arguments\":{\"a\":2}}", "", []llm.Call{ping(`{}`), ping(`{"a":2}`)}},
		"the name of the wire":   {`{"name":"files_read","arguments":{"path":"a"}}`, "", []llm.Call{read(`{"path":"a"}`)}},
		"with words around":      {"I look.\n\n{\"name\":\"ping\",\"arguments\":{}}\n\nThen we see.", "I look.\n\n\nThen we see.", []llm.Call{ping(`{}`)}},
		"braces in strings":      {`{"name":"ping","arguments":{"a":"}{\"]","b":{"c":[{}]}}}`, "", []llm.Call{ping(`{"a":"}{\"]","b":{"c":[{}]}}`)}},
		"a fence":                {"So:\n" + fence + "json\n{\"name\":\"ping\",\"arguments\":{}}\n" + fence + "\nDone.", "So:\nDone.", []llm.Call{ping(`{}`)}},
		"a fence with two calls": {fence + "\n{\"name\":\"ping\",\"arguments\":{}}\n\nping(a=1)\n" + fence, "", []llm.Call{ping(`{}`), ping(`{"a":1}`)}},
		"a fence of tildes":      {"~~~tool_code\nping()\n~~~", "", []llm.Call{ping(`{}`)}},
		"a tag":                  {"I look.\n<tool_call>\n{\"name\": \"ping\", \"arguments\": {\"a\": \"</tool_call>\"}}\n</tool_call>", "I look.", []llm.Call{ping(`{"a": "</tool_call>"}`)}},
		"a tag after another":    {`<tool_call>{"name":"ping","arguments":{}}</tool_call><tool_call>{"name":"ping","arguments":{}}</tool_call> there`, "there", []llm.Call{ping(`{}`), ping(`{}`)}},
		"a tag without an end":   {"<tool_call>\n{\"name\":\"ping\",\"arguments\":{}}\n", "", []llm.Call{ping(`{}`)}},
		"a tag in a fence":       {fence + "xml\n<tool_call>{\"name\":\"ping\",\"arguments\":{}}</tool_call>\n" + fence, "", []llm.Call{ping(`{}`)}},
		"XML": {
			"<tool_call>\n<function=files_read>\n<parameter=path>\n12\n</parameter>\n<parameter=lines>\n3\n</parameter>\n</function>\n</tool_call>", "",
			[]llm.Call{read(`{"lines":3,"path":"12"}`)},
		},
		"XML, all in a line": {
			`<tool_call><function=ping><parameter=a>x < y</parameter><parameter=b>{"c":1}</parameter></function><function=ping></function></tool_call>`, "",
			[]llm.Call{ping(`{"a":"x \u003c y","b":{"c":1}}`), ping(`{}`)},
		},
		"a function":             {`ping(a="x", b=3, c=-1.5, d=True, e=None, f=[1, {"g": ")"}])`, "", []llm.Call{ping(`{"a":"x","b":3,"c":-1.5,"d":true,"e":null,"f":[1,{"g":")"}]}`)}},
		"a function with words":  {"Now:\nfiles.read(path='it\\'s \"here\"')\nThere.", "Now:\nThere.", []llm.Call{read(`{"path":"it's \"here\""}`)}},
		"functions in brackets":  {`[ping(), files_read(path="a", lines=2)]`, "", []llm.Call{ping(`{}`), read(`{"lines":2,"path":"a"}`)}},
		"after thoughts":         {"<think>\nping()\n</think>\nping(a=1)", "<think>\nping()\n</think>", []llm.Call{ping(`{"a":1}`)}},
		"after thoughts' end":    {"ping()\n</think>\n\nping(a=1)", "ping()\n</think>", []llm.Call{ping(`{"a":1}`)}},
		"behind an open bracket": {"{ so it begins\n<tool_call>{\"name\":\"ping\",\"arguments\":{}}</tool_call>", "{ so it begins", []llm.Call{ping(`{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := local(t, tt.said)
			ids := map[string]bool{}
			for i := range r.Calls {
				ids[r.Calls[i].ID] = true
				r.Calls[i].ID = ""
			}
			if diff := cmp.Diff(tt.calls, r.Calls); diff != "" || r.Text != tt.text || r.Finish != llm.FinishToolCalls {
				t.Errorf("text %q, finish %s, calls differ (-want +got):\n%s", r.Text, r.Finish, diff)
			}
			if len(ids) != len(r.Calls) || ids[""] {
				t.Errorf("IDs %v", ids)
			}
		})
	}
}

func TestTextsThatAreNoCalls(t *testing.T) {
	const fence = "```"
	for name, text := range map[string]string{
		"prose":                        "Nothing to call.",
		"a name that is not on offer":  `{"name":"rm","arguments":{}}`,
		"a list with such a name":      `[{"name":"ping","arguments":{}},{"name":"rm","arguments":{}}]`,
		"a tag with such a name":       `<tool_call>{"name":"rm","arguments":{}}</tool_call>`,
		"a function of such a name":    "rm(path='/')",
		"a call in a sentence":         `I would use {"name":"ping","arguments":{}} here.`,
		"a call before a sentence":     `{"name":"ping","arguments":{}} is how.`,
		"a function in a sentence":     "Call ping(a=1) then.",
		"a function and its result":    "ping(a=1) returns 3",
		"in backticks":                 "`ping(a=1)`",
		"an assignment":                "x = ping(a=1)",
		"a quote":                      "> ping(a=1)",
		"an indented example":          "For example:\n\n    ping(a=1)\n\n\t{\"name\":\"ping\",\"arguments\":{}}",
		"a fence with more":            fence + "python\nimport x\nping(a=1)\n" + fence,
		"a fence without an end":       fence + "json\n{\"name\":\"ping\",\"arguments\":{}}",
		"a fence in a fence":           fence + "`markdown\n" + fence + "json\n{\"name\":\"ping\",\"arguments\":{}}\n" + fence + "\n" + fence + "`",
		"within a larger object":       "{\"example\":\n{\"name\":\"ping\",\"arguments\":{}}\n}",
		"within a broken object":       "{\"example\": [\n{\"name\":\"ping\",\"arguments\":{}}\n",
		"broken JSON":                  `{"name":"ping","arguments":{"a":}}`,
		"JSON cut off":                 `{"name":"ping","arguments":{"a":1}`,
		"only a name":                  `{"name":"ping"}`,
		"arguments that are no object": `{"name":"ping","arguments":[1]}`,
		"arguments that are a word":    `{"name":"ping","arguments":"now"}`,
		"arguments and parameters":     `{"name":"ping","arguments":{},"parameters":{}}`,
		"a description":                `{"name":"ping","description":"Pings","parameters":{}}`,
		"a schema":                     `{"name":"ping","parameters":{"type":"object","properties":{}}}`,
		"an empty list":                `[]`,
		"a tag with more":              `<tool_call>{"name":"ping","arguments":{}} or so</tool_call>`,
		"a tag in a sentence":          `Write <tool_call>{"name":"ping","arguments":{}}</tool_call> for it.`,
		"a call in a broken tag":       "<tool_call>\nping\n{\"name\":\"ping\",\"arguments\":{}}\n</tool_call>",
		"XML without an end":           `<tool_call><function=ping><parameter=a>1`,
		"XML with a parameter twice":   `<tool_call><function=ping><parameter=a>1</parameter><parameter=a>2</parameter></function></tool_call>`,
		"arguments without names":      `ping("x")`,
		"an argument twice":            `ping(a=1, a=2)`,
		"a broken value":               `ping(a=1+2)`,
		"a quote without an end":       `ping(a="x)`,
		"a list that does not end":     "[ping()",
		"a link":                       "[ping](http://x/)",
		"thoughts":                     "<think>ping</think>\nNo.\n<think>\nping()\n",
	} {
		t.Run(name, func(t *testing.T) {
			if r := local(t, text); len(r.Calls) > 0 || r.Text != text || r.Finish != llm.FinishStop {
				t.Errorf("reply %+v", r)
			}
		})
	}
}

func TestOnlyModelsThatAreSaidToWriteCallsDo(t *testing.T) {
	const text = `{"name":"ping","arguments":{}}`
	router := router.New(router.Options{HTTPClient: &http.Client{Transport: answers(text)}})
	r, err := router.Generate(t.Context(), llm.Request{
		Model: "ollama:x", Messages: []contract.Message{sample.User("hi")}, Tools: []contract.Tool{sample.Tool("ping", "", ``, false)},
	})
	if err != nil || r.Text != text || len(r.Calls) > 0 {
		t.Errorf("reply %+v, %v", r, err)
	}
}

// The time to read a text grows linearly with its length.
func TestLongTextsOfBracketsAndTags(t *testing.T) {
	for _, piece := range []string{"[\n\n", "{\"a\":\n", "<tool_call>{</tool_call>\n", "<tool_call>\n", "ping(a=[\n", "```\n{\n", "[ping(a={},", "<think>\n"} {
		start := time.Now()
		local(t, strings.Repeat(piece, 512<<10/len(piece)))
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%q took %s", piece, took)
		}
	}
}

func FuzzTextCalls(f *testing.F) {
	for _, seed := range []string{
		`{"name":"ping","arguments":{}}`, "```json\n[{}]\n```", "<tool_call><function=ping><parameter=a>1</parameter></function></tool_call>",
		`[ping(a='\'', b=[1])]`, "<think>\n", "~~~\n~~~~", "<tool_call>{\"name\":",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		r := local(t, text)
		for _, c := range r.Calls {
			if c.ID == "" || c.Name != "ping" && c.Name != "files.read" || !json.Valid(c.Arguments) || c.Arguments[0] != '{' {
				t.Errorf("call %+v", c)
			}
		}
		if len(r.Calls) == 0 && r.Text != text && utf8.ValidString(text) {
			t.Errorf("text %q became %q", text, r.Text)
		}
	})
}
