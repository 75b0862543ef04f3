package toolbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/activities/toolbox/facts"
	"agent-stop-and-go/workflows/contract"
)

const toolsWithFacts = `{"tools":[
	{"name":"execute","inputSchema":{"type":"object"}},
	{"name":"schema","inputSchema":{"type":"object"}},
	{"name":"tell","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"class":{"type":"string"}}},
	 "_meta":{"agent-stop-and-go/facts":{"name":"sql","for":["query","execute"]}}},
	{"name":"wrong","inputSchema":{"type":"object"},"_meta":{"agent-stop-and-go/facts":"sql"}}
]}`

// telling is a server whose tool tell answers with a result. params gets those of the last call.
func telling(t *testing.T, result string, params *string) *site {
	var mu sync.Mutex
	return serveRaw(t, raw{"tools/list": says(toolsWithFacts), "tools/call": func(_ http.ResponseWriter, p json.RawMessage) string {
		mu.Lock()
		defer mu.Unlock()
		*params = string(p)
		return result
	}})
}

func TestAServerTellsFactsAboutACall(t *testing.T) {
	var asked string
	place := telling(t, `{"content":[],"structuredContent":{"class":"write","writes":["orders","hunter2secret"],"rows":3,"cost":1.5,"safe":false}}`, &asked)
	s := place.server("db")
	s.Prefix, s.Facts, s.Allow, s.Secrets = true, []string{"sql"}, []string{"execute", "schema"}, []string{"hunter2secret"}
	box := openServers(t, s)
	tools := box.Tools(t.Context())
	if len(tools) != 2 || tools[0].Name != "db__execute" || tools[1].Facts != nil {
		t.Fatalf("on offer: %+v", tools)
	}
	got, err := box.Facts(t.Context(), tools[0], "sql", json.RawMessage(`{"statement":"DELETE"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"class": "write", "writes": []string{"orders", "hunter2secret"}, "rows": int64(3), "cost": 1.5, "safe": false}
	if diff := cmp.Diff(want, got.Values); diff != "" {
		t.Error(diff)
	}
	if s := string(got.Shown); strings.Contains(s, "hunter2") || !strings.Contains(s, `"writes":["orders","[secret]"]`) {
		t.Errorf("shown: %s", s)
	}
	if !strings.Contains(asked, `"name":"tell"`) || !strings.Contains(asked, `"arguments":{"tool":"execute","arguments":{"statement":"DELETE"}}`) {
		t.Errorf("asked: %s", asked)
	}
	if schema := string(tools[0].Facts["sql"].Schema); !strings.Contains(schema, "class") {
		t.Errorf("schema: %s", schema)
	}
}

func TestASourceOfFactsIsNoTool(t *testing.T) {
	var asked string
	place := telling(t, `{"content":[]}`, &asked)
	for _, name := range []string{"tell", "wrong"} {
		box := openServers(t, place.server("db"))
		for _, tool := range box.Tools(t.Context()) {
			if tool.Name == name || tool.Facts != nil {
				t.Errorf("on offer: %+v", tool)
			}
		}
		_, err := box.Call(t.Context(), toolbox.Call{Server: "db", Tool: name})
		wantKind(t, err, contract.KindToolFailed)
	}
	if asked != "" {
		t.Errorf("the server was called: %s", asked)
	}
}

func TestFactsThatAreNotKnown(t *testing.T) {
	for result, want := range map[string]string{
		`{"isError":true,"content":[{"type":"text","text":"no parser for hunter2secret"}]}`:                   "db: the facts are not known: no parser for [secret]",
		`{"content":[{"type":"text","text":"{}"}]}`:                                                           "db: the facts are no object",
		`{"content":[],"structuredContent":[1]}`:                                                              "db: the facts are no object",
		`{"content":[],"structuredContent":{"a":{"b":1}}}`:                                                    "db: a: neither a text",
		`{"content":[],"structuredContent":{"a":null}}`:                                                       "db: a: neither a text",
		`{"content":[],"structuredContent":{"a":[1]}}`:                                                        "db: a: a list of other things than texts",
		`{"content":[],"structuredContent":{"a":"` + strings.Repeat("x", 256<<10) + `"}}`:                     "more than 262144",
		`{"content":[],"structuredContent":{` + strings.TrimSuffix(strings.Repeat(`"%d":1,`, 65), ",") + `}}`: "there are 65 facts",
	} {
		if strings.Contains(result, "%d") {
			var n []any
			for i := range 65 {
				n = append(n, i)
			}
			result = fmt.Sprintf(result, n...)
		}
		var asked string
		s := telling(t, result, &asked).server("db")
		s.Facts, s.Secrets = []string{"sql"}, []string{"hunter2secret"}
		box := openServers(t, s)
		_, err := box.Facts(t.Context(), box.Tools(t.Context())[0], "sql", json.RawMessage(`{}`), "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v", result, err)
		}
	}
}

func TestLargeFactsAreKnownWholeAndShownInPart(t *testing.T) {
	var asked string
	s := telling(t, `{"content":[],"structuredContent":{"class":"write","normalized":"`+strings.Repeat("x", 10_000)+`"}}`, &asked).server("db")
	s.Facts = []string{"sql"}
	box := openServers(t, s)
	got, err := box.Facts(t.Context(), box.Tools(t.Context())[0], "sql", json.RawMessage(`{}`), "")
	if err != nil || len(got.Values["normalized"].(string)) != 10_000 || string(got.Shown) != `{"class":"write"}` {
		t.Errorf("%v, shown %.100s", err, got.Shown)
	}
}

func TestAServerThatDoesNotAnswerTellsNoFacts(t *testing.T) {
	block := make(chan struct{})
	place := serveRaw(t, raw{"tools/list": says(toolsWithFacts), "tools/call": func(http.ResponseWriter, json.RawMessage) string { <-block; return "" }})
	defer close(block)
	s := place.server("db")
	s.Facts, s.Timeout = []string{"sql"}, 50*time.Millisecond
	box := openServers(t, s)
	_, err := box.Facts(t.Context(), box.Tools(t.Context())[0], "sql", json.RawMessage(`{}`), "")
	if err == nil || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("got %v", err)
	}
}

func TestAPreviewIsToldWithoutSecretsAndWithoutASetting(t *testing.T) {
	const list = `{"tools":[{"name":"change","inputSchema":{"type":"object"}},
	{"name":"tell","inputSchema":{"type":"object"},"_meta":{"agent-stop-and-go/facts":{"name":"preview","for":["change"]}}}]}`
	place := serveRaw(t, raw{"tools/list": says(list), "tools/call": func(http.ResponseWriter, json.RawMessage) string {
		return `{"content":[],"structuredContent":{"text":"+hunter2secret of it"}}`
	}})
	s := place.server("db")
	s.Secrets = []string{"hunter2secret"}
	box := openServers(t, s)
	tools := box.Tools(t.Context())
	if len(tools) != 1 || tools[0].Name != "change" {
		t.Fatalf("%+v", tools)
	}
	answer, err := box.Facts(t.Context(), tools[0], facts.Preview, json.RawMessage(`{}`), "")
	if err != nil || answer.Text != "+[secret] of it" {
		t.Errorf("%+v %v", answer, err)
	}
}
