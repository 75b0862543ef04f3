package definition_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/commands/definition"
)

func parse(t *testing.T, text string) (definition.File, error) {
	t.Helper()
	return definition.Parse(filepath.Join(t.TempDir(), "t.yaml"), []byte(text))
}

const head = "name: t\nshort: A tool\nflags:\n  - {name: x, type: string, required: true}\n  - {name: maybe, type: string}\n  - {name: n, type: int, default: 5}\n  - {name: on, type: bool}\n  - {name: l, type: stringList}\n"

func TestCommandsBecomeExactlyTheirElements(t *testing.T) {
	f, err := parse(t, head+`command: [prog, -n, "{n}", [--maybe, "{maybe}"], [--on, "{on}"], [-l, "{l}"], "{}", "{ print }", --, "{x}", "{l}"]`)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"x":"a b"}`: "-n 5 {} { print } -- a b",
		`{"x":"-x","n":7,"maybe":"m","on":true,"l":["1","-2"]}`: "l must not begin",
		`{"x":"-x","n":7,"maybe":"m","on":true,"l":["1",""]}`:   "-n 7 --maybe m --on -l 1 -l  {} { print } -- -x 1 ",
		`{"x":"","n":-7}`:                "n must not begin",
		`{"x":"a","maybe":"--evil"}`:     "maybe must not begin",
		`{}`:                             "x is required",
		`{"x":1}`:                        "x: it must be a string",
		`{"x":"a\u0000b"}`:               "zero byte",
		`{"x":"a","n":"5"}`:              "n: it must be a whole number",
		`{"x":"a","n":5.5}`:              "n: it must be a whole number",
		`{"x":"a","n":9007199254740993}`: "-n 9007199254740993 {} { print } -- a",
		`{"x":"a","l":"b"}`:              "l: it must be a list",
		`{"x":"a","y":"b"}`:              `unknown argument "y", allowed: l, maybe, n, on, x`,
		`{"x":"a","on":"yes"}`:           "on: it must be true or false",
		`{"x":null}`:                     "x is required",
	} {
		var raw map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args), &raw); err != nil {
			t.Fatal(err)
		}
		values, err := f.Tool.Parameters.Values(raw)
		var argv []string
		if err == nil {
			argv, err = f.Tool.Argv(values)
		}
		got := strings.Join(argv, " ")
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

func TestWrongFilesAreRefusedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		head:                                                                          "either shell-script or command must be specified",
		head + "command: [a]\nshell-script: b\n":                                      "either shell-script or command",
		head + "command: [\"{x}\"]\n":                                                 "line 9: the program, which is the first element",
		head + "command: [a, \"s3://{x}\"]\n":                                         "line 9: \"s3://{x}\": an element is a literal or exactly one {argument}",
		head + "command: [a, \"{maybe}\"]\n":                                          "the argument maybe may be absent",
		head + "command: [a, \"{nope}\"]\n":                                           "there is no argument nope",
		head + "command: [bin/a]\n":                                                   "must be an absolute path",
		head + "command: [bash, -c, \"{x}\"]\n":                                       "the argument x is code here",
		head + "command: [bash, \"{x}\"]\n":                                           "bash would read the argument x as code",
		head + "command: [sudo, -u, me, python3, \"{x}\"]\n":                          "python3 would read the argument x",
		head + "command: [a, [b, c]]\n":                                               "must have exactly one argument",
		head + "command: [a]\nfoo: 1\n":                                               "line 10: unknown key \"foo\", allowed: name, short",
		head + "command: [a]\nenvironment: {LD_PRELOAD: \"{x}\"}\n":                   "LD_PRELOAD must not be the argument x",
		head + "command: [a]\nenvironment: {MAKEFLAGS: \"{x}\"}\n":                    "MAKEFLAGS must not be the argument x",
		head + "command: [a]\nenvironment: {RSYNC_RSH: \"{x}\"}\n":                    "RSYNC_RSH must not be the argument x",
		head + "command: [a]\nenvironment: {XDG_CONFIG_HOME: \"{x}\"}\n":              "XDG_CONFIG_HOME must not be the argument x",
		head + "command: [a]\nenvironment: {A: \"b{x}\"}\n":                           "exactly one {argument}",
		head + "command: [a]\nread: [missing]\n":                                      "read: stat",
		head + "command: [a]\ncwd: missing\n":                                         "cwd: stat",
		head + "command: [a]\nlimits: {memory: 3}\n":                                  "memory \"3\"",
		head + "command: [a]\nlimits: {time: 3}\n":                                    "is not",
		head + "command: [a]\nsha256: AB\n":                                           "64 hexadecimal digits",
		head + "command: [a]\nhints: {read-only: true, destructive: true}\n":          "cannot be read-only and destructive",
		head + "shell-script: |\n  true\n  eval \"$ARG_X\"\n":                         "line 11: shell-script: eval reads a value as code",
		head + "shell-script: |\n  if\n":                                              "shell-script: ",
		head + "shell-script: |\n  ls {{ .Args.x }}\n":                                "t.yaml:10: {{ .Args.x }}",
		head + "command: [a, \"{{ .Args.x }}\"]\n":                                    "t.yaml:9: {{ .Args.x }}",
		head + "command: [a]\n---\nname: b\n":                                         "second document",
		"name: \"a b\"\nshort: s\ncommand: [a]\n":                                     "name \"a b\"",
		"name: a\ncommand: [a]\n":                                                     "short is required",
		"name: a\nshort: s\nflags: [{name: x, type: objectFromFile}]\ncommand: [a]\n": "type \"objectFromFile\" is not supported",
		"name: a\nshort: s\nflags: [{name: x-y}, {name: x_y}]\ncommand: [a]\n":        "the same variable ARG_X_Y",
		"name: a\nshort: s\nflags: [{name: x, default: 1}]\ncommand: [a]\n":           "its default: it must be a string",
		"name: a\nshort: s\nflags: [{name: x, type: choice}]\ncommand: [a]\n":         "choices belong to",
		"- a\n": "not a definition",
		"name: p\nmessages: [{role: system, text: hi}]\n": "role \"system\"",
		"name: p\nmessages: [{text: \"hi {who}\"}]\n":     "there is no argument who",
		"uri: x\nname: r\ntext: a\n":                      "must have a scheme",
		"uri: \"x:y\"\nname: r\n":                         "either file or text",
		"uri: \"x:y\"\nname: r\nfile: missing\n":          "file: stat",
	} {
		if _, err := parse(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestTextThatLooksLikeATemplateIsKept(t *testing.T) {
	f, err := parse(t, "name: a\nshort: s\ncommand: [docker, ps, --format, '{{.Names}}']\n")
	if err != nil {
		t.Fatal(err)
	}
	if argv, err := f.Tool.Argv(nil); err != nil || argv[2] != "{{.Names}}" {
		t.Errorf("%q %v", argv, err)
	}
}

func TestScriptsGetValuesInTheEnvironment(t *testing.T) {
	f, err := parse(t, head+"environment: {A: \"{x}\", B: b}\npass-environment: [TOKEN]\nshell-script: |\n  echo \"$ARG_L_JSON\"\n")
	if err != nil {
		t.Fatal(err)
	}
	values, err := f.Tool.Parameters.Values(map[string]json.RawMessage{"x": json.RawMessage(`"a b"`), "l": json.RawMessage(`["<1>","2"]`)})
	if err != nil {
		t.Fatal(err)
	}
	env, err := f.Tool.Variables(values, func(name string) string { return name + "-value" })
	want := []string{"A=a b", "ARG_L_0=<1>", "ARG_L_1=2", "ARG_L_COUNT=2", `ARG_L_JSON=["<1>","2"]`, "ARG_MAYBE=", "ARG_N=5", "ARG_ON=false", "ARG_X=a b", "B=b", "TOKEN=TOKEN-value"}
	if err != nil || !slices.Equal(env, want) {
		t.Errorf("%q %v", env, err)
	}
	values["x"] = definition.Value{Texts: []string{"-x"}, Raw: "-x", Given: true}
	if _, err := f.Tool.Variables(values, os.Getenv); err == nil || !strings.Contains(err.Error(), "x must not begin") {
		t.Error(err)
	}
	f.Tool.Parameters.Get("x").AllowDash = true
	if _, err := f.Tool.Variables(values, os.Getenv); err != nil {
		t.Error(err)
	}
}

func TestPromptsAreFilledOnce(t *testing.T) {
	f, err := parse(t, "name: p\nshort: s\narguments: [{name: who, required: true}, {name: how, default: kindly}]\nmessages:\n  - {text: \"Greet {who} {how}\"}\n  - {role: assistant, text: \"{who}\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Prompt.Fill(map[string]string{"who": "{how}"})
	if err != nil || len(got) != 2 || got[0].Text != "Greet {how} kindly" || got[0].Role != "user" || got[1].Text != "{how}" {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := f.Prompt.Fill(nil); err == nil || err.Error() != "missing required argument: who" {
		t.Error(err)
	}
	if _, err := f.Prompt.Fill(map[string]string{"who": "a", "x": "b"}); err == nil {
		t.Error("an unknown argument is accepted")
	}
}
