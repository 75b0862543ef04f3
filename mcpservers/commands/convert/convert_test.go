package convert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/commands"
	"agent-stop-and-go/mcpservers/commands/convert"
	"agent-stop-and-go/mcpservers/commands/definition"
)

// evil is code in each of the languages that a value could get into.
const evil = "a'b\"c $(touch pwned) `touch pwned` ; touch pwned # \\ é\n*"

// published are the forms of go-go-mcp's own examples, with a call of the converted tool.
var published = map[string]struct {
	args string // %s: evil as JSON
	want string // the output; %s: evil
}{
	"list-issues.yaml": {args: `{"state":"all","tag":["a b",%s],"browse":true,"text":%s}`,
		want: "tracker[issues][--of][some/project][--state][all][--tag][a b][--tag][%s][--text][%s][--columns][number,title][--browse]\n"},
	"compose.yaml":       {args: `{"group":%s,"verb":"up"}`, want: "composer[-f][plan.yml][-p][%s][up][--quiet]\n"},
	"sync.yaml":          {args: `{"base":".","line":%s,"publish":true}`, want: "Syncing ./r\ngit[switch][%s]\ngit[publish][to][%s]\n"},
	"logs.yaml":          {args: `{"folder":"logs"}`, want: "Collected in found.txt\nan ERROR\n"},
	"backup.yaml":        {args: `{"source":"/var/x.db/","store":%s}`, want: "copier[put][/var/x.db/][store://%s/copies/x.db]\n"},
	"append.yaml":        {args: `{"note":%s,"words":"x"}`, want: "curl[-d][{\"to\":%j,\"more\":x}][http://localhost:1/]\n"},
	"insert.yaml":        {args: `{"note":%s,"below":%s}`, want: "curl[-d][{\"to\":%j,\"below\":%j}][http://localhost:1/]\n"},
	"hypotheticals.yaml": {args: `{"phrases":["b",%s]}`, want: "curl[-d][{\"phrases\":[\"b\",%j]}]\n"},
	"comment.yaml":       {args: `{"number":"7","remark":%s}`, want: "%s\ntracker[issues][remark][7]\n"},
	"fetch-html.yaml": {args: `{"pages":[%s],"keep":["x",%s]}`,
		want: "price: $5 `x`\nparts:\n\n- take: yes\n  part: \"x\"\n\n- take: yes\n  part: \"%s\"\n\nreader[--page][%s][--most][4]\n"},
	"pubmed.yaml":    {args: `{"subject":%s}`, want: "reader[--page][https://example.org/?about=%s]\n"},
	"sql-open.yaml":  {args: `{"file":%s}`, want: "%s\n\nstandard error:\nNo file '%s' yet.\n"},
	"prompto.yaml":   {args: `{"entry":%s}`, want: "library[get][%s]\n"},
	"diary.yaml":     {args: `{"entry":%s}`, want: "%s\n\n\n"},
	"update-ui.yaml": {args: `{"parts":%s,"talk":true}`, want: "Sending\n  %s\n"},
	"mail.yaml": {args: `{"before":"2026-01-31","sender":%s,"marks":["a b",%s]}`,
		want: "Now: postbox read --limit=10 --before=2026-01-31 --sender=%s --marks=a b,%s --as list\n" +
			"postbox[read][--limit=10][--before=2026-01-31][--sender=%s][--marks=a b,%s][--as][list]\n"},
	"find-code.yaml": {args: `{"kinds":["text","program"],"top":"a b","since":%s,"most":"7 x","without":["v",%s]}`,
		want: "without: v %s\nsearcher[a b][-not][-path][*/v/*][-not][-path][*/%s/*][-mtime][-%s][-size][-7 x][(][-name][*.log][-o][-name][*.txt][-o][-name][*.c][)][-type][f]\n"},
	"schedule.yaml":  {args: `{"likes":["a b","",%s]}`, want: "Likes: a b, , %s\n"},
	"pages.yaml":     {args: `{"pages":["a b",%s],"bare":true}`, want: "reader[-plain][--bare][a b]\n---\nreader[-plain][--bare][%s]\n---\n"},
	"subtitles.yaml": {args: `{"film":%s,"language":"en; ls"}`, want: "reader[--only-text][--language][en; ls][--made][%s]\nRead.\n"},
	"statement.yaml": {args: `{"store":%s,"statement":%s}`, want: "ledger[-first][.wait 30000][-columns][%s]\n%s\n"},
}

func TestPublishedFilesAreRefusedAndRunOnceConverted(t *testing.T) {
	files, err := filepath.Glob("testdata/published/*.yaml")
	if err != nil || len(files) != len(published) {
		t.Fatalf("%d files, %d cases: %v", len(files), len(published), err)
	}
	server, err := commands.New(commands.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c := published[filepath.Base(file)]
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			refused := new(definition.TemplateError)
			if _, err := definition.Load(file); !errors.As(err, &refused) || !strings.Contains(err.Error(), "mcp-commands convert "+file) {
				t.Errorf("the old file is not refused: %v", err)
			}
			text, err := convert.File(file, data)
			if err != nil {
				t.Fatal(err)
			}
			runConverted(t, server, text, c.args, c.want)
		})
	}
}

func TestOneOfSeveralBranchesIsTaken(t *testing.T) {
	server, err := commands.New(commands.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/published/insert.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := convert.File(file, data)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"note":"n"}`:                         "",
		`{"note":"n","above":"a"}`:             `,"above":"a"`,
		`{"note":"n","above":"a","below":"b"}`: `,"above":"a"`,
		`{"note":"n","below":"b"}`:             `,"below":"b"`,
	} {
		runConverted(t, server, text, args, `curl[-d][{"to":"n"`+want+"}][http://localhost:1/]\n")
	}
}

func runConverted(t *testing.T, server *commands.Server, text []byte, args, want string) {
	t.Helper()
	folder := work(t)
	path := filepath.Join(folder, "tool.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := definition.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	tool := commands.Tool{Tool: file.Tool, Program: file.Tool.Shell}
	bin := filepath.Join(folder, "bin")
	tool.Cwd, tool.Read, tool.Write = filepath.Join(folder, "cwd"), []string{bin}, []string{filepath.Join(folder, "cwd")}
	if tool.Script == "" {
		tool.Program = filepath.Join(bin, tool.Command[0].Text)
	}
	if tool.Environment == nil {
		tool.Environment = map[string]string{}
	}
	tool.Environment["PATH"] = bin + ":/usr/bin:/bin" // last, so it replaces the first
	quoted, _ := json.Marshal(evil)
	quotedAsSent := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(quoted))
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(strings.ReplaceAll(args, "%s", string(quoted))), &raw); err != nil {
		t.Fatal(err)
	}
	answer, err := server.Call(t.Context(), tool, raw)
	want = strings.NewReplacer("%s", evil, "%j", quotedAsSent).Replace(want)
	if err != nil || answer.Failed || answer.Text != want {
		t.Errorf("%v %v\ngot  %q\nwant %q\n%s", err, answer.Failed, answer.Text, want, text)
	}
	if _, err := os.Stat(filepath.Join(folder, "cwd", "pwned")); err == nil {
		t.Error("a value was run as code")
	}
}

// work makes a folder with programs that print their arguments, and some files.
func work(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"bin", "cwd/logs", "cwd/r/.git"} {
		must(os.MkdirAll(filepath.Join(folder, dir), 0o755))
	}
	must(os.WriteFile(filepath.Join(folder, "cwd", "logs", "a.log"), []byte("an ERROR\nfine\n"), 0o600))
	input := map[string]string{"ledger": "cat\n"}
	for _, name := range []string{"tracker", "composer", "git", "copier", "curl", "reader", "library", "postbox", "searcher", "ledger"} {
		must(os.WriteFile(filepath.Join(folder, "bin", name), []byte("#!/bin/bash\nprintf '%s' "+name+"; printf '[%s]' \"$@\"; echo\n"+input[name]), 0o755))
	}
	return folder
}

func TestWhatIsNotKnownIsRefusedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a function":                     {"echo {{ .Args.x | shout }}", "line 5: the template"},
		"a missing argument":             {"true\n  echo {{ .Args.y }}", "line 6: there is no argument y"},
		"if among words":                 {"echo a {{ if .Args.x }}b{{ end }}", "line 5: {{ if }} among the words"},
		"a value as command":             {`{{ .Args.x }} now`, "a value is the name of a command"},
		"a value in numbers":             {`echo $(( {{ .Args.x }} + 1 ))`, "bash runs commands that a value contains"},
		"code for a shell":               {`bash -c "echo {{ .Args.x }}"`, "bash -c reads a value as code"},
		"a program for sed":              {`sed "s/a/{{ .Args.x }}/" f`, "sed reads a value as a program"},
		"a broken script":                {"if {{ .Args.x }}; then", "cannot be parsed"},
		"a template of a set":            {"{{ with .Args.x }}a{{ end }}", "is not known"},
		"text of commands beside others": {`c="ls"; c+=" {{ .Args.x }}"; eval "$c | wc"`, "eval reads a value as code"},
		"text that goes on in a word":    {`c="ls"; c+="{{ .Args.x }}"; eval "$c"`, "eval reads a value as code"},
		"text that is a value as well":   {`c="ls"; c+=" {{ .Args.x }}"; eval "$c --all '$c'"`, "eval reads a value as code"},
		"text from elsewhere":            {`c=$(cat f); c+=" {{ .Args.x }}"; eval "$(cat g) $c"`, "eval reads a value as code"},
		"text of another process":        {`export c="ls {{ .Args.x }}"; eval "$c"`, "eval reads a value as code"},
		"a redirection on condition":     {`c="ls {{ .Args.x }}"; if a; then c+=" > f"; fi; eval "$c"`, "eval reads a value as code"},
		"text with an assignment":        {`c="A=b ls"; c+=" {{ .Args.x }}"; eval "$c"`, "eval reads a value as code"},
		"the length of text":             {`c="ls"; c+=" {{ .Args.x }}"; echo "${#c}"; eval "$c"`, "eval reads a value as code"},
		"a value as program of eval":     {`c="{{ .Args.x }}"; c+=" a"; eval "$c"`, "a value is the name of a command"},
		"text for a shell":               {`c="bash -c"; c+=" '{{ .Args.x }}'"; eval "$c"`, "bash -c reads a value as code"},
		"a separator with a quote":       {`echo {{ .Args.l | join "'" }}`, "a separator has no quote"},
	} {
		text, err := convert.File("t.yaml", []byte("name: t\nshort: t\nflags: [{name: x, type: string}, {name: l, type: stringList}]\nshell-script: |\n  "+c.script+"\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

func TestFilesThatWouldBeLostAreNamed(t *testing.T) {
	const file = "name: t\nshort: t\nflags: [{name: x, type: string}]\n%sshell-script: |\n  f=$(mktemp)\n  ls {{ .Args.x }} > \"$f\"\n  ls > {{ .Args.x }}\n  ls 2>/dev/null >> out.log\n"
	for cwd, want := range map[string]bool{"": true, "cwd: .\n": false} {
		text, err := convert.File("t.yaml", fmt.Appendf(nil, file, cwd))
		if err != nil || strings.Contains(string(text), "removed at its end with what it writes there (${ARG_X}, out.log):\n# name another by cwd and write.\nname: t") != want {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
