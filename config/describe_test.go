package config_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
)

func describe(t *testing.T, c *config.Config, getenv func(string) string) string {
	t.Helper()
	var b strings.Builder
	if err := c.Describe(&b, getenv); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDescribeShowsSettingsServersAndTree(t *testing.T) {
	c, err := config.Load("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/full.txt"
	got := describe(t, c, env("OPENAI_API_KEY", "k"))
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDescribeMarksDefaults(t *testing.T) {
	c := parse(t, "port: 8080\n")
	c.Temporal.Address = "from-the-environment:7233"
	got := describe(t, c, env())
	for line := range strings.Lines(got) {
		for _, own := range []string{"  port ", "  temporal.address "} {
			if strings.HasPrefix(line, own) && strings.Contains(line, "(default)") {
				t.Errorf("marked as default: %s", line)
			}
		}
		if strings.HasPrefix(line, "  temporal.port ") && !strings.Contains(line, "(default)") {
			t.Errorf("not marked: %s", line)
		}
	}
	if !strings.Contains(got, "key GEMINI_API_KEY is missing") {
		t.Errorf("no word of the missing key:\n%s", got)
	}
}

func TestDescribeShowsNoSecret(t *testing.T) {
	const canary = "c4n4ry"
	c := parse(t, `
llm: {base_url: "https://x/?key=c4n4ry"}
mcp_servers:
  - {name: a, url: "http://x/mcp?apiKey=c4n4ry"}
  - {name: b, command: x, env: {SETTING: c4n4ry}}
a2a: [{name: c, url: "http://x/?k=c4n4ry"}]
agent: {name: n, type: sequential, agents: [{name: d, type: a2a, url: "http://x/?k=c4n4ry"}]}
`)
	if got := describe(t, c, func(string) string { return canary }); strings.Contains(got, canary) {
		t.Errorf("shown in:\n%s", got)
	}
}

type brokenWriter struct{}

var errPipe = errors.New("broken pipe")

func (brokenWriter) Write([]byte) (int, error) { return 0, errPipe }

func TestDescribeReportsAFailedWrite(t *testing.T) {
	if err := config.Default().Describe(brokenWriter{}, env()); !errors.Is(err, errPipe) {
		t.Errorf("got %v", err)
	}
}

func TestDescribeSaysWhenPlaceholdersAreEmpty(t *testing.T) {
	got := describe(t, parse(t, `
agent:
  type: sequential
  agents:
    - {name: find, output_key: found}
    - name: refine
      type: loop
      agents:
        - {name: draft, prompt: "{user_message} {found} {review} {other}", output_key: draft}
        - {name: review, prompt: "Review {draft}", output_key: review}
`), env())
	for _, want := range []string{
		"reads {found}, empty if find left nothing; reads {review}, empty until review has run  → {draft}\n",
		"reads {draft}, empty if draft left nothing  → {review}\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
