package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

const examples = "../../../config/examples"

// example has a user's actions with one of the files, and their results.
type example struct {
	ask      string
	approves []string // tool and node of approved calls, in order
	rejects  bool     // the last of them is rejected
	answers  string   // the beginning of the answer
	stores   []string // names of the resources afterwards
	says     []string // nodes that wrote messages, in order
	tree     string
	edit     func(t *testing.T, text string) string // changes the file
	inner    string                                 // the file of an agent that this one calls, and that has the resources
	accepts  bool                                   // what waits is a question, and is answered with yes
}

// exampleRuns has one or more entries for every file. The text after a space in the key
// distinguishes them.
var exampleRuns = map[string]example{
	"simple.yaml": {
		ask: "add a resource named apple with value 42", approves: []string{"resources_add "},
		answers: "The tool resources_add answered: ", stores: []string{"apple=42"}, tree: "simple:done",
	},
	"sequential.yaml": {
		ask: "put a report on the list", approves: []string{"resources_add add"},
		answers: "Found: ", stores: []string{"report=42"}, says: []string{"look", "add", "report"},
		tree: "pipeline:done[look:done add:done report:done]",
	},
	"sequential.yaml rejected": {
		ask: "put a report on the list", approves: []string{"resources_add add"}, rejects: true,
		answers: "Operation cancelled by user.\n\nDone: look.\n\nNot done: add (rejected), report (skipped).",
		says:    []string{"look", "add"}, tree: "pipeline:rejected[look:done add:rejected report:skipped]",
	},
	"parallel.yaml": {
		ask: "check the list and leave a mark", approves: []string{"resources_add mark"},
		answers: "The tool resources_list answered: ", stores: []string{"checked=1"}, says: []string{"list", "greet", "mark"},
		tree: "sides:done[list:done greet:done mark:done]",
	},
	"loop.yaml": {
		ask: "is the list in order?", answers: "The tool resources_list answered: ", says: []string{"look", "judge"},
		tree: "watch:done[look:done judge:done]",
	},
	"nested.yaml": {
		ask: "back up the list", approves: []string{"resources_add store"},
		answers: "Stored: ", stores: []string{"backup=7"}, says: []string{"read", "check", "store", "report"},
		tree: "pipeline:done[both:done[read:done backup:done[check:done store:done]] report:done]",
	},
	"models.yaml": {
		ask: "add a resource named apple with value 42", approves: []string{"resources_add "},
		answers: "The tool resources_add answered: ", stores: []string{"apple=42"}, tree: "models:done",
	},
	"rules.yaml": {
		ask: "add a resource named apple with value 42", answers: "The tool resources_add answered: ", stores: []string{"apple=42"}, tree: "rules:done",
	},
	"rules.yaml large": {
		ask: "add a resource named apple with value 4200", approves: []string{"resources_add "}, rejects: true,
		answers: "Operation cancelled by user.", tree: "rules:rejected",
	},
	"local-tools.yaml": {
		ask:     `call ask_model_with_tool {"tool": "resources_list", "request": "call resources_list {}"}`,
		answers: "The tool ask_model_with_tool answered: The tool resources_list answered: ", tree: "local-tools:done",
	},
	"local-tools.yaml destructive": {
		ask:     `call ask_model_with_tool {"tool": "resources_remove", "request": "call resources_remove id=1"}`,
		answers: "The tool ask_model_with_tool answered with an error: resources_remove was not called: a person must approve it.", tree: "local-tools:done",
	},
	"commands.yaml": {
		ask: `call count_words text="how many words"`, answers: "The tool count_words answered: 3 words", tree: "commands:done",
	},
	"commands.yaml destructive": {
		ask: `call send_note to=alice text=$(id)`, approves: []string{"send_note "}, answers: "The tool send_note answered: to alice $(id)", tree: "commands:done",
	},
	"sql.yaml": {
		ask: `call execute {"sql":"CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"}`, approves: []string{"execute "},
		answers: "The tool execute answered: OK", tree: "sql:done",
	},
	"sql.yaml own table": {
		ask: `call execute {"sql":"CREATE TABLE tmp_notes (text TEXT)"}`, answers: "The tool execute answered: OK", tree: "sql:done",
	},
	"office.yaml": {
		inner: "simple.yaml", ask: `call simple {"message":"add a resource named apple with value 42"}`, approves: []string{"simple "}, accepts: true,
		answers: "The tool simple answered: The tool resources_add answered: ", stores: []string{"apple=42"}, tree: "office:done",
	},
	"web.yaml": {
		ask: `call search {"query":"durable execution"}`, answers: "The tool search answered: 1. Durable execution", tree: "web:done",
		edit: searchPage,
	},
	"openapi.yaml": {
		ask: `call start_conversation {"body":{"message":"hello"}}`, approves: []string{"start_conversation "},
		answers: "The tool start_conversation answered: 201 Created", tree: "openapi:done", edit: ownAddress,
	},
	"prompt.yaml": {
		ask:      `call update_prompt {"section":"tone","operation":"append","content":"Be kind.","base":"` + base("tone", "Be brief. Say what you changed.\n") + `"}`,
		approves: []string{"update_prompt "}, answers: "The tool update_prompt answered: This is version 2", tree: "prompt:done", edit: copyPrompt,
	},
	"drive.yaml": {
		ask: `call create_file {"name":"plan.txt","content":"hello"}`, answers: "The tool create_file answered: Created 'plan.txt'", tree: "drive:done", edit: keptFile,
	},
	"drive.yaml destructive": {
		ask: `call delete_file {"id":"notes.txt"}`, approves: []string{"delete_file "}, answers: "The tool delete_file answered: Deleted file id: notes.txt", tree: "drive:done", edit: keptFile,
	},
	"dialogue.yaml": {
		inner: "simple.yaml", ask: "add a resource named apple with value 42", approves: []string{"a2a_store store"},
		answers: "The tool resources_list answered: ", stores: []string{"apple=42"}, says: []string{"store", "check"},
		tree: "clerks:done[store:done check:done]",
	},
	"full-pipeline.yaml": {
		ask: "publish a summary of the list", approves: []string{"resources_add publish"},
		answers: "What came of publishing the summary: ", stores: []string{"summary=3"},
		says: []string{"facts", "wishes", "draft", "review", "publish", "report"}, tree: publishedTree,
	},
	"full-pipeline.yaml rejected": {
		ask: "publish a summary of the list", approves: []string{"resources_add publish"}, rejects: true,
		answers: "What came of publishing the summary: Operation cancelled by user.",
		says:    []string{"facts", "wishes", "draft", "review", "publish", "report"},
		tree:    strings.Replace(publishedTree, "publish:done", "publish:rejected", 1),
	},
}

const publishedTree = "pipeline:done[gather:done[facts:done wishes:done] refine:done[draft:done review:done] publish:done report:done]"

func TestEveryExampleRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(examples, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, ok := exampleRuns[filepath.Base(file)]; !ok {
			t.Errorf("nothing tests %s", filepath.Base(file))
		}
	}
	for name, e := range exampleRuns {
		t.Run(name, func(t *testing.T) { e.run(t, strings.SplitN(name, " ", 2)[0]) })
	}
}

func (e example) run(t *testing.T, file string) {
	dir := t.TempDir()
	stores := dir
	if e.inner != "" {
		stores = t.TempDir()
		inner := runExample(t, stores, e.inner, nil).base
		e.edit = func(_ *testing.T, text string) string {
			return strings.ReplaceAll(text, "http://127.0.0.1:8081", inner)
		}
	}
	api := runExample(t, dir, file, e.edit)
	got := api.ask(e.ask)
	id := got.Conversation.ID
	for i, want := range e.approves {
		if !got.Result.WaitingApproval {
			t.Fatalf("it does not wait for %s: %+v", want, got.Result)
		}
		p := got.Result.Approval
		same(t, "what waits", p.ToolName+" "+p.Node, want)
		approve := !e.rejects || i < len(e.approves)-1
		answer := fmt.Sprintf(`{"approved":%t}`, approve)
		if e.accepts {
			answer = `{"content":{"approve":true}}`
			if !strings.Contains(p.Description, "resources_add") || !strings.Contains(p.Description, "apple") {
				t.Errorf("the question is %q", p.Description)
			}
		}
		got = api.decide(p.UUID, answer)
	}
	if got.Result.WaitingApproval || !strings.HasPrefix(got.Result.Response, e.answers) {
		t.Errorf("the answer is %q, want %q", got.Result.Response, e.answers)
	}
	var says []string
	for _, m := range api.conversation(id).Messages {
		if m.Node != "" && (len(says) == 0 || says[len(says)-1] != m.Node) {
			says = append(says, m.Node)
		}
	}
	same(t, "nodes that wrote", says, e.says)
	same(t, "tree", api.statuses(id), e.tree)
	same(t, "resources", resources(t, filepath.Join(stores, "data", "resources.db")), e.stores)
}

// copyPrompt lets the agent change a copy of the example's prompt.
func copyPrompt(t *testing.T, text string) string {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(examples, "prompt"))); err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(text, "./config/examples/prompt", dir, 1)
	return strings.Replace(text, "{directory: prompt}", "{directory: "+dir+"}", 1)
}

// runExample starts the agent with an unchanged file, except ports and folders.
// searchPage makes the search engine one of the test, which answers as DuckDuckGo does.
func searchPage(t *testing.T, text string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("q") != "durable execution" {
			t.Errorf("the query is %q", r.FormValue("q"))
		}
		fmt.Fprint(w, `<div id="links"><div class="web-result"><h2><a class="result__a" href="https://example.com/">Durable execution</a></h2></div></div>`)
	}))
	t.Cleanup(s.Close)
	return strings.Replace(text, "--search, duckduckgo", "--search, duckduckgo="+s.URL, 1)
}

// keptFile puts a file into the folder of the tool server.
func keptFile(t *testing.T, text string) string {
	folder := regexp.MustCompile(`--path, ([^\]]+)\]`).FindStringSubmatch(text)
	if folder == nil {
		t.Fatal("the file names no folder")
	}
	if err := os.MkdirAll(folder[1], 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder[1], "notes.txt"), []byte("Buy apples."), 0o600); err != nil {
		t.Fatal(err)
	}
	return text
}

// ownAddress makes the API that of the agent, whose port is one of the test.
func ownAddress(t *testing.T, text string) string {
	port := regexp.MustCompile(`(?m)^port: (\d+)`).FindStringSubmatch(text)
	if port == nil || !strings.Contains(text, "127.0.0.1:8080") {
		t.Fatal("the file has no port, or no address")
	}
	return strings.ReplaceAll(text, "127.0.0.1:8080", "127.0.0.1:"+port[1])
}

func runExample(t *testing.T, dir, file string, edit func(*testing.T, string) string) *api {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(examples, file))
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	text := string(data)
	for old, replacement := range map[string]string{
		"port: 8080": fmt.Sprintf("port: %d", port), "./data": filepath.Join(dir, "data"),
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("there is no %q in %s", old, file)
		}
		text = strings.ReplaceAll(text, old, replacement)
	}
	if edit != nil {
		text = edit(t, text)
	}
	definitions, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "./config/examples", definitions)
	text += fmt.Sprintf("\ntemporal: {port: %d, ui_port: 0}\n", freePort(t))
	path := filepath.Join(dir, file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "agent", nil, "--config", path)
	return newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", port))
}

// resources reads the names in the database through another tool server.
func resources(t *testing.T, db string) []string {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := mcpclient.NewStdioMCPClient(filepath.Join(bin, "mcp-resources"), nil, "--stdio", "--db", db)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		t.Fatal(err)
	}
	list := mcp.CallToolRequest{}
	list.Params.Name = "resources_list"
	r, err := c.CallTool(ctx, list)
	if err != nil || r.IsError || len(r.Content) == 0 {
		t.Fatalf("list the resources: %v, %+v", err, r)
	}
	text := r.Content[0].(mcp.TextContent).Text
	var listed struct {
		Resources []struct {
			Name  string
			Value json.Number
		}
	}
	if err := json.Unmarshal([]byte(text), &listed); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var names []string
	for _, l := range listed.Resources {
		names = append(names, l.Name+"="+l.Value.String())
	}
	slices.Sort(names)
	return names
}
