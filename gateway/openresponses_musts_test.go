package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// must is a demand of a specification on servers, with the test that fails if it is not met.
type must struct{ section, demand, test string }

// openResponses are the demands of Open Responses (openresponses.org, 2026-04-24, and the core capabilities after it):
// what it says with MUST, and what its acceptance tests insist on. Sections are those of the specification.
var openResponses = []must{
	{"HTTP Requests", "requests have a JSON body", "TestORBodiesAreJSON"},
	{"HTTP Requests", "Authorization says who calls", "TestORAuthorization"},
	{"HTTP Responses", "without stream the reply is JSON, errors too", "TestORRepliesAreJSON"},
	{"HTTP Responses", "a stream is text/event-stream, of JSON, and ends with [DONE]", "TestORStreams"},
	{"HTTP Responses", "the event field is the type in the body, and there is no id", "TestORStreams"},
	{"Chat Inference", "POST /v1/responses takes a model with a text or with items", "TestORCases"},
	{"Chat Inference", "the reply is a response with the items of the model", "TestORCases"},
	{"Chat Inference", "a response has every member of the schema", "TestORCases"},
	{"File Input", "a file comes with its data and name; other forms are refused", "TestORFiles"},
	{"Tool Calling", "a function is called with call_id, name and arguments, and takes its result", "TestORFunctions"},
	{"Stateful Conversations", "a response names its conversation", "TestORPreviousResponse"},
	{"Semantic Search", "file_search and other hosted tools, which are not here, are refused", "TestORHostedTools"},
	{"Offline Web Search", "nothing is fetched from the web", "TestORHostedTools"},
	{"Items are state machines", "an incomplete item is the last one, and its response is incomplete", "TestORIncomplete"},
	{"Items are streamable", "the first event of an item is output_item.added, with role or name, and no required member is null", "TestORStreams"},
	{"Items are streamable", "text is in a content part, which is added before its deltas", "TestORStreams"},
	{"Items are streamable", "a part and an item end with done", "TestORStreams"},
	{"Items are extensible", "there are no items of other types, unless the client asks for those of OpenAI", "TestORItems"},
	{"Errors", "an error has message, type, code and param", "TestORErrors"},
	{"Errors", "an error within a stream is an event, and response.failed follows", "TestORErrorWithinAStream"},
	{"Streaming", "every event is one of the schema: a delta, or a change of state", "TestORStreams"},
	{"Streaming", "created and in_progress come first, one final state last", "TestORStreams"},
	{"previous_response_id", "the input and the output before are part of the context", "TestORPreviousResponse"},
	{"previous_response_id", "their order is kept", "TestORPreviousResponseInOrder"},
	{"previous_response_id", "one that there is not is previous_response_not_found", "TestORErrors"},
	{"tool_choice", "with none no function can be called", "TestORToolChoice"},
	{"tool_choice", "a named function is the only one for the first reply", "TestORToolChoice"},
	{"allowed_tools", "only those that are listed can be called", "TestORToolChoice"},
	{"truncation", "with disabled nothing is dropped silently: the response fails", "TestORTruncation"},
	{"service_tier", "every tier is taken, and the response has one", "TestORHints"},
	{"Extending Items", "every item has id, type and status; IDs are unique", "TestORItems"},
	{"Extending streaming events", "sequence_number rises by one", "TestORStreams"},
	{"Extending existing schemas", "members of extensions change no other", "TestORHints"},
	{"WebSocket Transport", "a turn begins with response.create", "TestORSocketRequests"},
	{"WebSocket Transport", "stream has no effect, and background is refused", "TestORSocketRequests"},
	{"WebSocket Transport", "the events are those of streams, with the same order and numbers", "TestORSocket"},
	{"WebSocket Transport", "requests are carried out one after the other", "TestORSocketQueues"},
	{"WebSocket Continuation", "what is not stored goes on where it was created", "TestORSocketContinues"},
	{"WebSocket Continuation", "elsewhere it is previous_response_not_found", "TestORSocketContinues"},
	{"WebSocket Continuation", "a continuation that fails is forgotten", "TestORSocketForgets"},
	{"WebSocket Limits", "after its time a connection ends with websocket_connection_limit_reached", "TestORSocketEnds"},
	{"WebSocket Errors", "a failure is an error with status, code and message", "TestORSocketRequests"},
	{"WebSocket Compaction", "a compaction begins a new chain", "TestORCompaction"},
	{"Compaction Endpoint", "model is required", "TestORCompaction"},
	{"Compaction Endpoint", "the reply is a response.compaction with a compaction", "TestORCompaction"},
	{"AssistantMessageItemParam", "phase is taken", "TestORCases"},
}

// The tables of demands and the tests agree.
func TestDemandsHaveTests(t *testing.T) {
	tests, cases := testsHere(t)
	named := map[string]bool{}
	for _, m := range slices.Concat(openResponses, ollamaDocument) {
		test, name, isCase := strings.Cut(m.test, "/")
		named[test] = true
		if m.section == "" || m.demand == "" || !tests[test] || isCase && !cases[test][name] {
			t.Errorf("%s: %s has no test %s", m.section, m.demand, m.test)
		}
	}
	for name := range tests {
		if strings.HasPrefix(name, "TestOR") && !named[name] {
			t.Errorf("%s is the test of no demand", name)
		}
	}
}

// testsHere returns the names of the tests of this package, and the texts in each, which may be names of its cases.
func testsHere(t *testing.T) (names map[string]bool, texts map[string]map[string]bool) {
	t.Helper()
	names, texts = map[string]bool{}, map[string]map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			names[f.Name.Name], texts[f.Name.Name] = true, map[string]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					texts[f.Name.Name][strings.Trim(text.Value, "`\"")] = true
				}
				return true
			})
		}
	}
	return names, texts
}
