package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

func tool(name, about, schema string, destructive bool) contract.Tool {
	return contract.Tool{Name: name, Description: about, InputSchema: json.RawMessage(schema), DestructiveHint: destructive}
}

var resources = []contract.Tool{
	tool("resources_add", "Add a new resource", `{"type":"object","properties":{"name":{"type":"string","description":"Name of the resource"},"value":{"type":"integer","description":"Value of the resource"}},"required":["name","value"]}`, true),
	tool("resources_remove", "Remove resources by ID or by pattern", `{"type":"object","properties":{"id":{"type":"string"},"pattern":{"type":"string","description":"Regular expression that names match"}}}`, true),
	tool("resources_list", "List resources, all or those that match a pattern", `{"type":"object","properties":{"pattern":{"type":"string","description":"Regular expression"}}}`, false),
}

var files = []contract.Tool{
	tool("list_directory", "List the files and directories in a directory", `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`, false),
	tool("read_file", "Read a file", `{"type":"object","properties":{"path":{"type":"string"},"head":{"type":"integer"}},"required":["path"]}`, false),
	tool("write_file", "Write content to a file", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`, true),
	tool("search_files", "Search files by glob", `{"type":"object","properties":{"path":{"type":"string"},"pattern":{"type":"string","description":"glob"}},"required":["path","pattern"]}`, false),
	tool("move_file", "Move or rename a file", `{"type":"object","properties":{"source":{"type":"string"},"destination":{"type":"string"}},"required":["source","destination"]}`, true),
	tool("delete_file", "Delete a file", `{"type":"object","properties":{"path":{"type":"string"},"recursive":{"type":"boolean"}},"required":["path"]}`, true),
}

var misc = []contract.Tool{
	tool("echo", "Says what it hears", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, false),
	tool("weather", "Weather forecast", `{"type":"object","properties":{"location":{"type":"string"},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["location"]}`, false),
	tool("tickets.create", "Create a ticket", `{"type":"object","properties":{"title":{"type":"string"},"priority":{"type":"string","enum":["low","high"]},"tags":{"type":"array","items":{"type":"string"}},"urgent":{"type":"boolean"},"estimate":{"type":"number"}},"required":["title","priority"]}`, true),
}

func ask(t *testing.T, tools []contract.Tool, messages ...contract.Message) llm.Reply {
	t.Helper()
	r, err := llm.NewRouter(llm.Options{}).Generate(t.Context(), llm.Request{Model: contract.DemoModel, Messages: messages, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// made lists calls as "name {arguments}".
func made(r llm.Reply) []string {
	var out []string
	for _, c := range r.Calls {
		out = append(out, c.Name+" "+string(c.Arguments))
	}
	return out
}

func TestDemoCallsTheToolThatFits(t *testing.T) {
	for _, tt := range []struct {
		tools []contract.Tool
		text  string
		want  []string
	}{
		{resources, "list resources", []string{`resources_list {}`}},
		{resources, "List all the resources, please!", []string{`resources_list {}`}},
		{resources, "show me everything", []string{`resources_list {}`}},
		{resources, "What resources do you have?", []string{`resources_list {}`}},
		{resources, "resources?", []string{`resources_list {}`}},
		{resources, "list resources matching ^foo", []string{`resources_list {"pattern":"^foo"}`}},
		{resources, "find resources starting with a.b", []string{`resources_list {"pattern":"^a\\.b"}`}},
		{resources, "show alpha", []string{`resources_list {"pattern":"^alpha$"}`}},
		{resources, "show the resource named alpha", []string{`resources_list {"pattern":"^alpha$"}`}},
		{resources, "add x with value 3", []string{`resources_add {"name":"x","value":3}`}},
		{resources, "add a resource named foo with value 42", []string{`resources_add {"name":"foo","value":42}`}},
		{resources, "Add a new resource called foo with value of -42.", []string{`resources_add {"name":"foo","value":-42}`}},
		{resources, "create resource name=foo value=42", []string{`resources_add {"name":"foo","value":42}`}},
		{resources, "create a resource: name: foo, value: 42", []string{`resources_add {"name":"foo","value":42}`}},
		{resources, `store "my thing" with value 7 please`, []string{`resources_add {"name":"my thing","value":7}`}},
		{resources, `make a resource "list and delete" with value 7`, []string{`resources_add {"name":"list and delete","value":7}`}},
		{resources, "put red apple 9007199254740993", []string{`resources_add {"name":"red apple","value":9007199254740993}`}},
		{resources, "could you please add test-1 with the value 0", []string{`resources_add {"name":"test-1","value":0}`}},
		{resources, "store the number 42 under the name answer", []string{`resources_add {"name":"answer","value":42}`}},
		{resources, "add a=1 and b=2", []string{`resources_add {"name":"a","value":1}`, `resources_add {"name":"b","value":2}`}},
		{resources, "add a=1, b=2 and c=3", []string{`resources_add {"name":"a","value":1}`, `resources_add {"name":"b","value":2}`, `resources_add {"name":"c","value":3}`}},
		{resources, "add x with value 3 and y with value 4", []string{`resources_add {"name":"x","value":3}`, `resources_add {"name":"y","value":4}`}},
		{resources, "add name=x and value=3", []string{`resources_add {"name":"x","value":3}`}},
		{resources, "list resources and add x with value 3", []string{`resources_list {}`, `resources_add {"name":"x","value":3}`}},
		{resources, "Add x with value 3. Then list the resources.", []string{`resources_add {"name":"x","value":3}`, `resources_list {}`}},
		{resources, "list resources twice", []string{`resources_list {}`, `resources_list {}`}},
		{resources, "list resources three times", []string{`resources_list {}`, `resources_list {}`, `resources_list {}`}},
		{resources, "delete item alpha", []string{`resources_remove {"pattern":"^alpha$"}`}},
		{resources, "drop alpha and beta", []string{`resources_remove {"pattern":"^alpha$"}`, `resources_remove {"pattern":"^beta$"}`}},
		{resources, "remove 1767225600000000000", []string{`resources_remove {"id":"1767225600000000000"}`}},
		{resources, "remove the resource with id 17", []string{`resources_remove {"id":"17"}`}},
		{resources, "remove resources matching foo", []string{`resources_remove {"pattern":"foo"}`}},
		{resources, "delete the resource named a.b", []string{`resources_remove {"pattern":"^a\\.b$"}`}},
		{resources, "delete all resources", []string{`resources_remove {"pattern":".*"}`}},
		{resources, "resources_list", []string{`resources_list {}`}},
		{resources, "call resources_add name=list value=1", []string{`resources_add {"name":"list","value":1}`}},
		{files, "list files in docs", []string{`list_directory {"path":"docs"}`}},
		{files, "read notes.txt", []string{`read_file {"path":"notes.txt"}`}},
		{files, "read the file /etc/hosts with head 5", []string{`read_file {"head":5,"path":"/etc/hosts"}`}},
		{files, "create file notes.txt with content 'hello, and bye'", []string{`write_file {"content":"hello, and bye","path":"notes.txt"}`}},
		{files, "write hello world to notes.txt", []string{`write_file {"content":"hello world","path":"notes.txt"}`}},
		{files, "search files in src matching *.go", []string{`search_files {"path":"src","pattern":"*.go"}`}},
		{files, "move a.txt to b/c.txt", []string{`move_file {"destination":"b/c.txt","source":"a.txt"}`}},
		{files, "delete tmp/x.log recursively", []string{`delete_file {"path":"tmp/x.log","recursive":true}`}},
		{files, "delete a.txt and b.txt", []string{`delete_file {"path":"a.txt"}`, `delete_file {"path":"b.txt"}`}},
		{misc, "echo hello to the world", []string{`echo {"text":"hello to the world"}`}},
		{misc, "hello, echo good day", []string{`echo {"text":"good day"}`}},
		{misc, "weather in Paris", []string{`weather {"location":"Paris"}`}},
		{misc, "what is the weather in Paris in fahrenheit?", []string{`weather {"location":"Paris","unit":"fahrenheit"}`}},
		{misc, `create a ticket titled "Door stuck" with high priority, tags=["a","b"]`, []string{`tickets.create {"priority":"high","tags":["a","b"],"title":"Door stuck"}`}},
		{misc, `create ticket title="X" priority=LOW urgent=yes estimate=1.5`, []string{`tickets.create {"estimate":1.5,"priority":"low","title":"X","urgent":true}`}},
		{append(append(misc[:3:3], files...), resources...), "add x with value 3", []string{`resources_add {"name":"x","value":3}`}},
		{append(append(misc[:3:3], files...), resources...), "delete resource x", []string{`resources_remove {"pattern":"^x$"}`}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := ask(t, tt.tools, user(tt.text))
			if diff := cmp.Diff(tt.want, made(r)); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s\ntext: %s", diff, strings.TrimPrefix(r.Text, llm.DemoNote))
			}
		})
	}
}

func TestDemoSaysWhatItIsInItsFirstReplyOnly(t *testing.T) {
	first := ask(t, resources, user("list resources"))
	if !strings.HasPrefix(first.Text, llm.DemoNote) || first.Finish != llm.FinishToolCalls {
		t.Errorf("first reply: %q, finish %s", first.Text, first.Finish)
	}
	second := ask(t, resources, user("list resources"), say("r1", llm.DemoNote),
		call("r1", first.Calls[0].ID, "resources_list", "{}"), result("r1", first.Calls[0].ID, "resources_list", "[]"))
	if strings.Contains(second.Text, llm.DemoNote) {
		t.Errorf("second reply repeats the note: %q", second.Text)
	}
	if (second.Usage != contract.Usage{}) || second.Model != contract.DemoModel || second.Finish != llm.FinishStop {
		t.Errorf("second reply = %+v", second)
	}
}

func TestDemoReportsResults(t *testing.T) {
	long := strings.Repeat("é", 4096)
	for name, tt := range map[string]struct {
		messages []contract.Message
		want     string
	}{
		"a result": {[]contract.Message{result("r1", "a", "x", `{"count": 2}`)}, `The tool x answered: {"count": 2}`},
		"an error": {[]contract.Message{failed(result("r1", "a", "x", "boom"))}, "The tool x answered with an error: boom"},
		"nothing":  {[]contract.Message{result("r1", "a", "x", "")}, "The tool x ran and returned nothing."},
		"a long result": {[]contract.Message{result("r1", "a", "x", long)},
			"The tool x answered: " + strings.Repeat("é", 2046) + "… (the first 4 KB of 8192 bytes)"},
		"a rejection": {[]contract.Message{decision(contract.Rejected)}, "Understood: x was not run, because the call was rejected."},
		"an expiry":   {[]contract.Message{decision(contract.Expired)}, "x was not run."},
	} {
		t.Run(name, func(t *testing.T) {
			messages := append([]contract.Message{user("x"), call("r1", "a", "x", "{}")}, tt.messages...)
			r := ask(t, resources, messages...)
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
		{resources, "add foo", []string{"resources_add: value (integer).", "Nothing was run", "call resources_add name=alpha value=42"}},
		{resources, "add a resource", []string{"name (string) and value (integer)"}},
		{resources, "add foo with value abc", []string{"value (integer)", `value must be an integer, not "abc"`}},
		{resources, "add foo with value 3.5", []string{`value must be an integer, not "3.5"`}},
		{resources, "list resources and add foo", []string{"resources_add: value (integer)"}},
		{resources, "remove resources", []string{"resources_remove: id (string) or pattern (string)"}},
		{misc, "create a ticket titled X", []string{"priority (one of low, high)"}},
		{resources, "sing a song", []string{"I found no tool for that.", "resources_list: List resources"}},
		{resources, "What is the meaning of life?", []string{"I found no tool for that."}},
		{resources, "!!!", []string{"The message holds no words."}},
		{nil, "list resources", []string{"No tools are on offer"}},
		{resources, "Hello!", []string{"Hello. I can use these tools:", "call resources_remove id=alpha"}},
		{resources, "Good morning", []string{"Hello."}},
		{resources, "thanks a lot", []string{"You are welcome."}},
		{resources, "What can you do?", []string{"I can use these tools:"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			r := ask(t, tt.tools, user(tt.text))
			for _, want := range tt.want {
				if !strings.Contains(r.Text, want) {
					t.Errorf("%q is not in the reply %q", want, r.Text)
				}
			}
			if len(r.Calls) > 0 {
				t.Errorf("calls %v", made(r))
			}
		})
	}
}

func TestDemoTakesTheAnswerToItsQuestion(t *testing.T) {
	question := ask(t, resources, user("add foo")).Text
	r := ask(t, resources, user("add foo"), say("r1", question), user("value 42"))
	if diff := cmp.Diff([]string{`resources_add {"name":"foo","value":42}`}, made(r)); diff != "" {
		t.Error(diff)
	}
	r = ask(t, resources, user("add foo"), say("r1", question), user("list resources"))
	if diff := cmp.Diff([]string{`resources_list {}`}, made(r)); diff != "" {
		t.Error(diff)
	}
}

func TestDemoGoesOnAfterARejection(t *testing.T) {
	r := ask(t, resources, user("add a=1"), call("r1", "a", "resources_add", "{}"), decision(contract.Rejected),
		say("", "Operation cancelled by user."), user("list resources"))
	if diff := cmp.Diff([]string{`resources_list {}`}, made(r)); diff != "" {
		t.Error(diff)
	}
}

// Every example it gives must work, for any tool.
func TestDemoUnderstandsItsOwnExamples(t *testing.T) {
	all := append(append(misc[:3:3], files...), resources...)
	for _, line := range strings.Split(ask(t, all, user("help")).Text, "\n") {
		_, example, ok := strings.Cut(line, "(try: ")
		if !ok {
			continue
		}
		example = strings.TrimSuffix(example, ")")
		r := ask(t, all, user(example))
		if len(r.Calls) != 1 || !strings.HasPrefix(line, "- "+r.Calls[0].Name) {
			t.Errorf("%q led to %v: %s", example, made(r), r.Text)
		}
	}
}

func TestDemoIsDeterministicAndSurvivesAnything(t *testing.T) {
	odd := append(misc[:3:3], tool("broken", "", `not json`, false), tool("", "", ``, true), tool("nullable", "Get it",
		`{"type":"object","properties":{"limit":{"anyOf":[{"type":"null"},{"type":"integer"}]},"opts":{"type":"object"}},"required":["opts"]}`, false))
	for _, text := range []string{"get opts={\"a\":1} limit 5", "get opts=x", "'", "\"", "= = =", "a=", "add =1", "{", "and and and", "list list list",
		"broken", "add \x00\xff", strings.Repeat("add a=1 and ", 500), "to in from", "named", "matching", "with value"} {
		first := ask(t, odd, user(text))
		for range 5 {
			if diff := cmp.Diff(first, ask(t, odd, user(text))); diff != "" {
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
		for _, c := range ask(t, append(append(misc[:3:3], files...), resources...), user(text)).Calls {
			if !json.Valid(c.Arguments) {
				t.Errorf("%q: arguments %s", text, c.Arguments)
			}
		}
	})
}
