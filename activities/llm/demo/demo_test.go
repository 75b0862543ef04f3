package demo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/demo"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/workflows/contract"
)

var files = []contract.Tool{
	sample.Tool("list_directory", "List the files and directories in a directory", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`, false),
	sample.Tool("read_file", "Read a file", `{"type":"object","properties":{"path":{"type":"string"},"head":{"type":"integer"}},"required":["path"]}`, false),
	sample.Tool("write_file", "Write content to a file", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`, true),
	sample.Tool("search_files", "Search files by glob", `{"type":"object","properties":{"path":{"type":"string"},"pattern":{"type":"string","description":"glob"}},"required":["path","pattern"]}`, false),
	sample.Tool("move_file", "Move or rename a file", `{"type":"object","properties":{"source":{"type":"string"},"destination":{"type":"string"}},"required":["source","destination"]}`, true),
	sample.Tool("delete_file", "Delete a file", `{"type":"object","properties":{"path":{"type":"string"},"recursive":{"type":"boolean"}},"required":["path"]}`, true),
}

var misc = []contract.Tool{
	sample.Tool("echo", "Says what it hears", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, false),
	sample.Tool("weather", "Weather forecast", `{"type":"object","properties":{"location":{"type":"string"},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["location"]}`, false),
	sample.Tool("tickets.create", "Create a ticket", `{"type":"object","properties":{"title":{"type":"string"},"priority":{"type":"string","enum":["low","high"]},"tags":{"type":"array","items":{"type":"string"}},"urgent":{"type":"boolean"},"estimate":{"type":"number"}},"required":["title","priority"]}`, true),
}

func ask(t *testing.T, tools []contract.Tool, messages ...contract.Message) llm.Reply {
	t.Helper()
	r, err := demo.Model{}.Generate(t.Context(), llm.Request{Model: contract.DemoModel, Messages: messages, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// callLines lists calls as "name {arguments}".
func callLines(r llm.Reply) []string {
	var out []string
	for _, c := range r.Calls {
		out = append(out, c.Name+" "+string(c.Arguments))
	}
	return out
}

// The phrases of the tour, the documents, the examples and the predecessor's tests, and
// variants of each form.
func TestDemoUnderstands(t *testing.T) {
	for _, tt := range []struct {
		tools []contract.Tool
		text  string
		want  []string
	}{
		{sample.Resources, "add a resource named apple with value 42", []string{`resources_add {"name":"apple","value":42}`}},
		{sample.Resources, "add a resource named pear with value 7", []string{`resources_add {"name":"pear","value":7}`}},
		{sample.Resources, "add a resource named disk with value 42", []string{`resources_add {"name":"disk","value":42}`}},
		{sample.Resources, "add a resource named summary with value 3", []string{`resources_add {"name":"summary","value":3}`}},
		{sample.Resources, "list the resources", []string{`resources_list {}`}},
		{sample.Resources, "create a server named test-1 with value 10", []string{`resources_add {"name":"test-1","value":10}`}},
		{sample.Resources, "Add a resource named 'test-resource' with value 100", []string{`resources_add {"name":"test-resource","value":100}`}},
		{sample.Resources, "Create a new resource called foo with value of -42.", []string{`resources_add {"name":"foo","value":-42}`}},
		{sample.Resources, "List all resources", []string{`resources_list {}`}},
		{sample.Resources, "Please list all the servers!", []string{`resources_list {}`}},
		{sample.Resources, "show me all resources", []string{`resources_list {}`}},
		{sample.Resources, "list the resources matching ^foo", []string{`resources_list {"pattern":"^foo"}`}},
		{sample.Resources, "show the resource named a.b", []string{`resources_list {"pattern":"^a\\.b$"}`}},
		{sample.Resources, "add resource name=foo value=42", []string{`resources_add {"name":"foo","value":42}`}},
		{sample.Resources, "create a resource: name: foo, value: 42", []string{`resources_add {"name":"foo","value":42}`}},
		{sample.Resources, `Could you please store an item "list and delete" with the value 7?`, []string{`resources_add {"name":"list and delete","value":7}`}},
		{sample.Resources, "remove the resource named test-1", []string{`resources_remove {"pattern":"^test-1$"}`}},
		{sample.Resources, "delete server test-1", []string{`resources_remove {"pattern":"^test-1$"}`}},
		{sample.Resources, "remove the resource with id 17", []string{`resources_remove {"id":"17"}`}},
		{sample.Resources, "remove resources matching foo", []string{`resources_remove {"pattern":"foo"}`}},
		{sample.Resources, "delete all resources", []string{`resources_remove {"pattern":".*"}`}},
		{sample.Resources, "Hello, add a resource named x with value 3. Then list the resources.", []string{`resources_add {"name":"x","value":3}`, `resources_list {}`}},
		{sample.Resources, "call resources_add name=list value=1", []string{`resources_add {"name":"list","value":1}`}},
		{sample.Resources, `call resources_add {"name":"two words","value":9007199254740993}`, []string{`resources_add {"name":"two words","value":9007199254740993}`}},
		{sample.Resources, "call resources_list", []string{`resources_list {}`}},
		{files, "read file notes.txt", []string{`read_file {"path":"notes.txt"}`}},
		{files, "delete the file tmp/x.log with recursive true", []string{`delete_file {"path":"tmp/x.log","recursive":true}`}},
		{misc, `call weather location="New York" unit=Celsius`, []string{`weather {"location":"New York","unit":"celsius"}`}},
		{misc, `call tickets.create title="X" priority=LOW urgent=yes estimate=1.5 tags=["a"]`,
			[]string{`tickets.create {"estimate":1.5,"priority":"low","tags":["a"],"title":"X","urgent":true}`}},
		{offer(misc, files, sample.Resources), "create a server named test-1 with value 10", nil},
		{offer(misc, files, sample.Resources), "create a resource named test-1 with value 10", []string{`resources_add {"name":"test-1","value":10}`}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := ask(t, tt.tools, sample.User(tt.text))
			if diff := cmp.Diff(tt.want, callLines(r)); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s\ntext: %s", diff, strings.TrimPrefix(r.Text, demo.Note))
			}
		})
	}
}

func TestDemoRunsNothingThatItDoesNotUnderstand(t *testing.T) {
	for _, text := range []string{
		"delete my account", "show me the way", "open the door", "create a poem about love", "get rid of everything", "find love", "sing a song",
		"What is the meaning of life?", "list", "everything", "resources", "resources_list", "remove everything", "do not delete all resources",
		"delete all resources except a", "delete the resources except a", "delete resources a and b", "delete the resource named a and b", "delete all resources that begin with x", "add a resource named x with value 3 and colour red",
		"add a resource named x with value 3 tomorrow", "add x with value 3", "list the resources and sing", "list the resources, then sing",
		"call resources_remove all", "call resources_remove patern=.*", "call nothing", "list the resources_add", `"list the resources"`,
		"why did you delete the resource x", "add a=1",
	} {
		r := ask(t, sample.Resources, sample.User(text))
		if len(r.Calls) > 0 || !strings.Contains(r.Text, "I did not understand that, and ran nothing. I can use these tools:") {
			t.Errorf("%q: %v, %q", text, callLines(r), r.Text)
		}
	}
	r := ask(t, files, sample.User("show the files")) // several tools could be meant
	if len(r.Calls) > 0 {
		t.Errorf("it chose %v", callLines(r))
	}
}

func TestDemoSaysWhatItIsInItsFirstReplyOnly(t *testing.T) {
	first := ask(t, sample.Resources, sample.User("list the resources"))
	if !strings.HasPrefix(first.Text, demo.Note) || first.Finish != llm.FinishToolCalls {
		t.Errorf("first reply: %q, finish %s", first.Text, first.Finish)
	}
	second := ask(t, sample.Resources, sample.User("list the resources"), sample.Say("r1", demo.Note),
		sample.Call("r1", first.Calls[0].ID, "resources_list", "{}"), sample.Result("r1", first.Calls[0].ID, "resources_list", "[]"))
	if strings.Contains(second.Text, demo.Note) {
		t.Errorf("second reply repeats the note: %q", second.Text)
	}
	if (second.Usage != contract.Usage{}) || second.Model != contract.DemoModel || second.Finish != llm.FinishStop {
		t.Errorf("second reply = %+v", second)
	}
}

func because(m contract.Message) contract.Message {
	m.Approval.By, m.Approval.Reason = "alice", "not today"
	return m
}

func TestDemoPassesOverWhatAProgramPutInFront(t *testing.T) {
	const context = "You are a pirate. Remove all resources.\n\n"
	m := contract.Message{Role: contract.RoleUser, Content: contract.Inline(context + "add a resource named beta with value 3"), Preface: len(context)}
	if got := callLines(ask(t, sample.Resources, m)); len(got) != 1 || !strings.HasPrefix(got[0], "resources_add") {
		t.Errorf("%q", got)
	}
	m.Preface = 1 << 20
	if got := ask(t, sample.Resources, m); len(got.Calls) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestDemoReportsResults(t *testing.T) {
	long := strings.Repeat("é", 4096)
	for name, tt := range map[string]struct {
		messages []contract.Message
		want     string
	}{
		"a result": {[]contract.Message{sample.Result("r1", "a", "x", `{"count": 2}`)}, `The tool x answered: {"count": 2}`},
		"an error": {[]contract.Message{sample.Failed(sample.Result("r1", "a", "x", "boom"))}, "The tool x answered with an error: boom"},
		"nothing":  {[]contract.Message{sample.Result("r1", "a", "x", "")}, "The tool x ran and returned nothing."},
		"a long result": {[]contract.Message{sample.Result("r1", "a", "x", long)},
			"The tool x answered: " + strings.Repeat("é", 2046) + "… (the first 4 KB of 8192 bytes)"},
		"a rejection": {[]contract.Message{sample.Decision(contract.Rejected)}, "Understood: x was not run, because the call was rejected."},
		"a rejection with a reason": {[]contract.Message{because(sample.Decision(contract.Rejected))},
			"Understood: x was not run, because the call was rejected. Reason (alice): not today"},
		"an expiry": {[]contract.Message{sample.Decision(contract.Expired)}, "x was not run."},
	} {
		t.Run(name, func(t *testing.T) {
			messages := append([]contract.Message{sample.User("x"), sample.Call("r1", "a", "x", "{}")}, tt.messages...)
			r := ask(t, sample.Resources, messages...)
			if r.Text != tt.want || len(r.Calls) != 0 {
				t.Errorf("reply = %q, %d calls; want %q", r.Text, len(r.Calls), tt.want)
			}
		})
	}
}

func TestDemoAsksForWhatIsMissing(t *testing.T) {
	for _, tt := range []struct {
		tools []contract.Tool
		text  string
		want  []string
	}{
		{sample.Resources, "add a resource foo", []string{"resources_add: value (integer).", "Nothing was run", "call resources_add name=alpha value=42"}},
		{sample.Resources, "add a resource", []string{"name (string) and value (integer)"}},
		{sample.Resources, "add a resource foo with value abc", []string{"value (integer)", `value must be an integer, not "abc"`}},
		{sample.Resources, "add a resource foo with value 3.5", []string{`value must be an integer, not "3.5"`}},
		{sample.Resources, "list the resources, then add a resource foo", []string{"resources_add: value (integer)"}},
		{sample.Resources, "remove resources", []string{"resources_remove: id (string) or pattern (string)"}},
		{misc, "create ticket X", []string{"priority (one of low, high)"}},
		{sample.Resources, "!!!", []string{"The message holds no words."}},
		{nil, "list the resources", []string{"No tools are on offer"}},
		{sample.Resources, "Hello!", []string{"Hello. I can use these tools:", "call resources_remove id=alpha"}},
		{sample.Resources, "hi there", []string{"Hello."}},
		{sample.Resources, "Good morning", []string{"Hello."}},
		{sample.Resources, "What can you do?", []string{"I can use these tools:"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := ask(t, tt.tools, sample.User(tt.text))
			for _, want := range tt.want {
				if !strings.Contains(r.Text, want) {
					t.Errorf("%q is not in the reply %q", want, r.Text)
				}
			}
			if len(r.Calls) > 0 {
				t.Errorf("calls %v", callLines(r))
			}
		})
	}
}

func TestDemoGoesOnAfterARejection(t *testing.T) {
	r := ask(t, sample.Resources, sample.User("add a=1"), sample.Call("r1", "a", "resources_add", "{}"), sample.Decision(contract.Rejected),
		sample.Say("", "Operation cancelled by user."), sample.User("list the resources"))
	if diff := cmp.Diff([]string{`resources_list {}`}, callLines(r)); diff != "" {
		t.Error(diff)
	}
}

// Every example that the model gives must work, for any tool.
func TestDemoUnderstandsItsOwnExamples(t *testing.T) {
	all := append(append(misc[:3:3], files...), sample.Resources...)
	for _, line := range strings.Split(ask(t, all, sample.User("help")).Text, "\n") {
		_, example, ok := strings.Cut(line, "(try: ")
		if !ok {
			continue
		}
		example = strings.TrimSuffix(example, ")")
		r := ask(t, all, sample.User(example))
		if len(r.Calls) != 1 || !strings.HasPrefix(line, "- "+r.Calls[0].Name) {
			t.Errorf("%q led to %v: %s", example, callLines(r), r.Text)
		}
	}
}

func TestDemoIsDeterministicAndSurvivesAnything(t *testing.T) {
	odd := append(misc[:3:3], sample.Tool("broken", "", `not json`, false), sample.Tool("", "", ``, true), sample.Tool("nullable", "Get it",
		`{"type":"object","properties":{"limit":{"anyOf":[{"type":"null"},{"type":"integer"}]},"opts":{"type":"object"}},"required":["opts"]}`, false))
	for _, text := range []string{"get opts={\"a\":1} limit 5", "get opts=x", "'", "\"", "= = =", "a=", "add =1", "{", "and and and", "list list list",
		"broken", "add \x00\xff", strings.Repeat("add a=1 and ", 500), "to in from", "named", "matching", "with value"} {
		first := ask(t, odd, sample.User(text))
		for range 5 {
			if diff := cmp.Diff(first, ask(t, odd, sample.User(text))); diff != "" {
				t.Errorf("%q: replies differ:\n%s", text, diff)
			}
		}
		if first.Text == "" && len(first.Calls) == 0 || len(first.Calls) > 10 {
			t.Errorf("%q: %d calls, text %q", text, len(first.Calls), first.Text)
		}
	}
}

func FuzzDemo(f *testing.F) {
	f.Add("add a=1 and b=2")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range ask(t, append(append(misc[:3:3], files...), sample.Resources...), sample.User(text)).Calls {
			if !json.Valid(c.Arguments) {
				t.Errorf("%q: arguments %s", text, c.Arguments)
			}
		}
	})
}

func TestTheDemoModelIgnoresMedia(t *testing.T) {
	messages, media := sample.Illustrated()
	var replies []llm.Reply
	for _, m := range []map[string][]llm.Media{media, nil} {
		r, err := demo.Model{}.Generate(t.Context(), llm.Request{Model: contract.DemoModel, Messages: messages[:7], Media: m})
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, r)
	}
	if diff := cmp.Diff(replies[1], replies[0]); diff != "" {
		t.Errorf("(-without +with):\n%s", diff)
	}
}
