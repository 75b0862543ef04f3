package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// record writes a conversation with a call of refund that a person approved.
func record(t testing.TB, dir string, n int, amount string, at time.Time) {
	t.Helper()
	id := contract.NameUUID("recorded", fmt.Sprint(n))
	args := json.RawMessage(`{"amount":` + amount + `}`)
	message := func(i int, m document.Message) document.Message {
		m.ID, m.CreatedAt = contract.NameUUID(id, fmt.Sprint(i)), at.Add(time.Duration(i)*time.Second)
		return m
	}
	c := document.Conversation{
		ID: id, Agent: "shop", Status: contract.StatusActive, CreatedAt: at, UpdatedAt: at, Version: 9,
		Messages: []document.Message{
			message(0, document.Message{Role: contract.RoleUser, Content: "hi", Identity: &contract.Identity{Channel: "rest"}}),
			message(1, document.Message{Role: contract.RoleAssistant, DraftID: "d", ToolCall: &document.ToolCall{ID: "1", Name: "refund", Arguments: args}}),
			message(2, document.Message{Role: contract.RoleUser, Content: "approved", Approval: &contract.ApprovalResult{
				UUID: id, Tool: "refund", ArgumentsSHA256: contract.Hash(args), Decision: contract.Approved, RequestedAt: at.Add(2 * time.Second),
			}}),
			message(3, document.Message{Role: contract.RoleTool, ToolCall: &document.ToolCall{ID: "1", Name: "refund", Result: "done"}}),
		},
	}
	data, err := json.Marshal(c)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, contract.ConversationFile(id)), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ruled writes the file of an agent with a rule, and returns its path.
func ruled(t testing.TB, dir, name, when string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	text := fmt.Sprintf("name: shop\nhost: 127.0.0.1\nllm: {model: 'demo:rules'}\ndata_dir: %q\napproval:\n  rules: [{name: small, when: %q, then: allow}]\n", dir, when)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRecordedCallsAreJudgedByTheRulesOfNow(t *testing.T) {
	dir := t.TempDir()
	now := time.Now().Add(-time.Hour)
	record(t, dir, 1, "20", now)
	record(t, dir, 2, "700", now)
	record(t, dir, 3, "30", now.AddDate(0, -2, 0))
	file, wider := ruled(t, dir, "a.yaml", "args.amount < 500"), ruled(t, dir, "b.yaml", "args.amount < 1000 && server == 'pay'")
	tools, cases := filepath.Join(dir, "tools.json"), filepath.Join(dir, "cases.yaml")
	bad := filepath.Join(t.TempDir(), "bad.json")
	for path, text := range map[string]string{
		tools: `{"tools":[{"name":"refund","server":"pay","destructiveHint":true}]}`,
		bad:   `{"id":`,
		cases: "cases: [{name: large, call: {tool: refund, server: pay, args: {amount: 700}, annotations: {destructive: true}}, expect: ask}]",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		args   []string
		code   int
		prints []string
		stderr string
	}{
		"the agent's folder": {[]string{"backtest", "--config", file}, 0, []string{
			"LOOSENED", `refund {"amount":20}`, "then  ask, approved\n", "now   allow by small\n", "2 calls of 2 conversations since ", ": 1 loosened, 1 same\n", "small                 0     1\n",
		}, ""},
		"a longer time":           {[]string{"backtest", "--config", file, "--since", "90d"}, 0, []string{": 2 loosened, 1 same\n"}, ""},
		"a gate":                  {[]string{"backtest", "--config", file, "--fail-on", "loosened"}, 1, nil, "agent: 1 loosened\n"},
		"a gate for other things": {[]string{"backtest", "--config", file, "--fail-on", "tightened,unclear"}, 0, nil, ""},
		"a server that is not known": {[]string{"backtest", "--config", wider, "--fail-on", "loosened"}, 1, []string{
			"UNCLEAR", "now   ask, or allow by small (server is not known)", "Of the unclear ones 2 may be loosened.", "Not known of them: server (2)", "--connect asks",
		}, "agent: 2 loosened\n"},
		"tools from a file": {[]string{"backtest", "--config", wider, "--tools", tools}, 0, []string{": 2 loosened, 0 same\n"}, ""},
		"two files": {[]string{"diff", file, wider, "--tools", tools}, 0, []string{
			`refund {"amount":700}`, "old   ask\n", "new   allow by small\n", ": 1 loosened, 1 same\n",
		}, ""},
		"JSON": {[]string{"backtest", "--config", file, "--json"}, 0, []string{
			`"tool":"refund","arguments":{"amount":20},"decision":"approved","kind":"loosened","before":{"outcome":"ask"},"after":{"outcome":"allow","rule":"small"}}`,
			`{"report":{"conversations":2,"calls":2,"changes":{"loosened":1,"same":1}`,
		}, ""},
		"cases":                       {[]string{"diff", file, wider, "--cases", cases}, 0, []string{"case  large\n", "1 cases: 1 loosened, 0 same\n"}, ""},
		"cases and files":             {[]string{"diff", file, wider, dir, "--cases", cases}, 2, nil, "--cases judges no recorded calls"},
		"a file that cannot be read":  {[]string{"backtest", "--config", file, bad, dir}, 1, []string{"2 calls of 2 conversations"}, "the file is cut off"},
		"tools that are none":         {[]string{"backtest", "--config", file, "--tools", bad}, 1, nil, "is no output of agent tools --json"},
		"a kind that is none":         {[]string{"backtest", "--config", file, "--fail-on", "worse"}, 2, nil, "--fail-on worse: must be"},
		"no time":                     {[]string{"backtest", "--config", file, "--since", "soon"}, 2, nil, "--since soon is no time"},
		"files and the running agent": {[]string{"backtest", "--config", file, "--running", dir}, 2, nil, "--running reads no files"},
		"one file":                    {[]string{"diff", file}, 2, nil, "requires at least 2 arg"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), append([]string{"policy"}, c.args...), env(), &stdout, &stderr)
			if exitCode(err) != c.code || !strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
				t.Errorf("code %d: %s", exitCode(err), &stderr)
			}
			for _, part := range c.prints {
				if !strings.Contains(stdout.String(), part) {
					t.Errorf("no %q in\n%s", part, &stdout)
				}
			}
		})
	}
}

// The memory of a backtest does not grow with the number of conversations.
func TestManyRecordedConversationsAreReadOneByOne(t *testing.T) {
	dir := t.TempDir()
	const many = 2000
	for n := range many {
		record(t, dir, n, "20", time.Now().Add(-time.Hour))
	}
	file := ruled(t, dir, "a.yaml", "args.amount < 500")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"policy", "backtest", "--config", file}, env(), &stdout, &stderr); err != nil {
		t.Fatal(err, &stderr)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if !strings.Contains(stdout.String(), fmt.Sprintf("and %d more, which --json lists\n%d calls of %d conversations", many-50, many, many)) {
		t.Errorf("printed\n%s", stdout.String()[max(0, stdout.Len()-500):])
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("the heap has grown by %d KiB", grown>>10)
	}
}
