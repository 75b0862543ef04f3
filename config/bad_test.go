package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract/redact"
)

// Each file in testdata/bad contains pairs: CASE.yaml, and its errors.
func TestBadFilesGiveTheseErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			rewrite(t, file, archive)
		}
		for i := 0; i+1 < len(archive.Files); i += 2 {
			input, want := archive.Files[i], archive.Files[i+1]
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+input.Name, func(t *testing.T) {
				if diff := cmp.Diff(string(want.Data), errorsOf(input)); diff != "" {
					t.Errorf("in %s (-want +got):\n%s", file, diff)
				}
			})
		}
	}
}

func errorsOf(f txtar.File) string {
	_, err := config.Parse(f.Name, f.Data)
	return fmt.Sprintln(err)
}

func rewrite(t *testing.T, file string, archive *txtar.Archive) {
	t.Helper()
	var files []txtar.File
	for _, f := range archive.Files {
		if name, ok := strings.CutSuffix(f.Name, ".yaml"); ok {
			files = append(files, f, txtar.File{Name: name + ".errors", Data: []byte(errorsOf(f))})
		}
	}
	archive.Files = files
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsNeverShowASecret(t *testing.T) {
	const canary = "c4n4ry-s3cr3t"
	for _, text := range []string{
		"api_key: " + canary,
		"llm: {api_key: " + canary + "}",
		"mcp_servers: [{name: a, command: b, env: {GITHUB_TOKEN: " + canary + "}}]",
		"mcp_servers: [{name: a, command: b, env: {PORT: [" + canary + "]}}]",
		"mcp_servers: [{name: a, url: 'http://h', headers: {Authorization: 'Bearer " + canary + "'}}]",
		"mcp_servers: [{name: a, url: 'http://h', headers: {X-API-Key: '${KEY}" + canary + "'}}]",
		"mcp_servers: [{name: a, url: 'http://h', headers: {X: \"" + canary + "\\n\"}}]",
		"mcp_servers: [{name: a, url: 'http://me:" + canary + "@h/'}]",
		"mcp_servers: [{name: a, url: 'ftp://me:" + canary + "@h/'}]",
		"mcp_servers: [{name: a, url: 'http://me:%zz" + canary + "@h/'}]",
		"mcp_servers: [{name: a, url: 'me:" + canary + "@h'}]",
		"models: {a: {provider: google, model: g, api_key_env: " + canary + "}}",
		"models: {a: {provider: google, model: g, api_key: " + canary + "}}",
		"models: {a: {provider: google, model: g, base_url: 'http://me:" + canary + "@h/'}}",
		"models: {a: {provider: google, model: g, headers: {Authorization: 'Bearer " + canary + "'}}}",
		"events: {redis: 'redis://:" + canary + "@h:6379'}",
		"events: {redis: 'redis://" + canary + "@h:6379'}",
		"events: {redis: 'redis://:${P}" + canary + "@h:6379'}",
		"events: {redis: 'redis://h:6379?password=" + canary + "'}",
		"events: {redis: 'redis://:${P}@h:" + canary + "'}",
		"events: {redis: '" + canary + "'}",
		"push: {signing_key: '" + canary + "'}",
		"push: {signing_key: '${P}" + canary + "'}",
		"unknown: " + canary,
	} {
		_, err := config.Parse("f.yaml", []byte(text))
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s\ngave %v", text, err)
		}
	}
}

func TestHostileFilesAreRefusedAtOnce(t *testing.T) {
	laughs := "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		laughs += fmt.Sprintf("b%d: &a%d [%s]\n", i, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	wide := "agent:\n  type: sequential\n  agents:\n"
	for i := range 1001 {
		wide += fmt.Sprintf("    - {name: n%d}\n", i)
	}
	tests := map[string]struct{ text, want string }{
		"billion laughs":   {laughs, "more than 50000 values, with every alias written out"},
		"cycle":            {"agent: &a\n  type: loop\n  agents: [*a]\n", "the alias *a stands inside what it stands for"},
		"cycle by merge":   {"llm: &a\n  <<: *a\n", "the alias *a stands inside what it stands for"},
		"deep lists":       {"a: " + strings.Repeat("[", 140) + strings.Repeat("]", 140), "nested more than 128 levels deep"},
		"deeper lists":     {"a: " + strings.Repeat("[", 200_000), "failed to parse config file"},
		"tree of 50":       {deepTree(50), "f.yaml:130: agent: the tree is more than 32 nodes deep here"},
		"tree of 500":      {deepTree(500), "an agent tree may be 32 nodes deep"},
		"wide tree":        {wide, "the tree has more than 1000 nodes"},
		"long list":        {"a: [" + strings.Repeat("1,", 60_000) + "]", "more than 50000 values"},
		"huge":             {strings.Repeat("# nothing\n", 200_000), "larger than 1048576 bytes"},
		"many models":      {manyModels(8_000), "more than 50000 values"},
		"deep schema":      {"agent: {name: a, output_schema: {not: " + strings.Repeat("{not: ", 130) + strings.Repeat("}", 132), "nested more than 128 levels deep"},
		"schema by laughs": {laughs + "agent: {name: a, output_schema: *a12}\n", "more than 50000 values"},
		"not UTF-8":        {"name: \xff\xfe\x00", "failed to parse config file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := config.Parse("f.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			if d := time.Since(start); d > 2*time.Minute {
				t.Errorf("took %s", d)
			}
		})
	}
}

// manyModels is a registry whose entries fall back on each other.
func manyModels(n int) string {
	var b strings.Builder
	b.WriteString("models:\n")
	for i := range n {
		fmt.Fprintf(&b, "  m%d: {provider: google, model: g, fallback: [m%d]}\n", i, (i+1)%n)
	}
	return b.String()
}

func TestAThousandModelsLoadAtOnce(t *testing.T) {
	start := time.Now()
	c := parse(t, manyModels(1000)+"llm: {model: o1-m5}\nlimits: {turn: {cost: 1}}\n")
	c.Warnings()
	if d := time.Since(start); d > 2*time.Minute {
		t.Errorf("took %s", d)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"agent.yaml", "testdata/full.yaml", "examples/models.yaml"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("agent: &a\n  <<: [*a, {x: 1}]\n? [b]\n: c\n--- !!int x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("f.yaml", data)
		if (c == nil) == (err == nil) {
			t.Errorf("config %v, error %v", c, err)
		}
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("accepted, then refused: %v", err)
		}
		c.Warnings()
		if _, err := c.Tree(t.Context(), blobstore.Memory()); err != nil {
			t.Errorf("no tree: %v", err)
		}
	})
}

func TestSecretsThatAFileMustNotHoldAreHiddenToo(t *testing.T) {
	for _, name := range []string{
		"API_KEY", "AWS_ACCESS_KEY", "SECRET-KEY", "private_key", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL",
		"CREDENTIALS", "BEARER", "AUTHORIZATION",
	} {
		text := "mcp_servers:\n  - name: git\n    command: git-mcp\n    env: {" + name + ": abc}\n"
		if _, err := config.Parse("a.yaml", []byte(text)); err == nil || !redact.SecretName(name) {
			t.Errorf("%s: %v, hidden %v", name, err, redact.SecretName(name))
		}
	}
}
