package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandLines runs command lines that start nothing.
func TestCommandLines(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.yaml")
	if err := os.WriteFile(good, []byte("llm: {model: 'demo:rules'}"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, cases := filepath.Join("..", "..", "config", "examples", "rules.yaml"), filepath.Join("..", "..", "config", "examples", "rules", "cases.yaml")
	commands := map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"the version":                        {args: []string{"version"}, stdout: "dev\n"},
		"the version by a flag":              {args: []string{"--version"}, stdout: "dev\n"},
		"help":                               {args: []string{"help"}, stdout: "Exit codes:"},
		"help about a command":               {args: []string{"help", "keys", "add"}, stdout: "--expires"},
		"help about no command":              {args: []string{"help", "nosuch"}, code: 2, stderr: `unknown command "nosuch" for "agent"`},
		"help about no subcommand":           {args: []string{"help", "keys", "nosuch"}, code: 2, stderr: `unknown command "nosuch" for "agent keys"`},
		"help by a flag":                     {args: []string{"--help"}, stdout: "Run an agent:"},
		"help by a flag of before":           {args: []string{"-help"}, stdout: "Run an agent:"},
		"help for a command":                 {args: []string{"validate", "-h"}, stdout: "--connect"},
		"a check":                            {args: []string{"validate", "--config", good}, stdout: "demo:rules"},
		"a check with a flag of before":      {args: []string{"validate", "-config", good}, stdout: "demo:rules"},
		"a check with a flag and =":          {args: []string{"validate", "-config=" + good, "-demo-if-no-key"}, stdout: "demo:rules"},
		"a completion":                       {args: []string{"completion", "bash"}, stdout: "__start_agent"},
		"completion of commands":             {args: []string{"__complete", "v"}, stdout: "validate\t", stderr: "ShellCompDirectiveNoFileComp"},
		"a file that is not there":           {args: []string{"--config", "none.yaml"}, code: 1, stderr: "agent: failed to read config file"},
		"a file of run that is not there":    {args: []string{"run", "--config", "none.yaml"}, code: 1, stderr: "agent: failed to read config file"},
		"an unknown flag":                    {args: []string{"--nope"}, code: 2, stderr: "agent: unknown flag: --nope\nRun 'agent --help' for usage.\n"},
		"an unknown flag of a command":       {args: []string{"validate", "--nope"}, code: 2, stderr: "Run 'agent validate --help' for usage.\n"},
		"a flag without its value":           {args: []string{"--config"}, code: 2, stderr: "flag needs an argument: --config"},
		"an unknown command":                 {args: []string{"frobnicate"}, code: 2, stderr: `agent: unknown command "frobnicate" for "agent"`},
		"a misspelt command":                 {args: []string{"validat"}, code: 2, stderr: "Did you mean this?\n\tvalidate\n"},
		"an argument too many":               {args: []string{"run", "extra"}, code: 2, stderr: `unexpected argument "extra"`},
		"a flag of another command":          {args: []string{"version", "--connect"}, code: 2, stderr: "unknown flag: --connect"},
		"what looks like a flag behind --":   {args: []string{"run", "--", "-config"}, code: 2, stderr: `unexpected argument "-config"`},
		"a collection without an agent":      {args: []string{"gc", "--nope"}, code: 2, stderr: "unknown flag: --nope"},
		"a share that is none":               {args: []string{"deployment", "ramp", "2", "--percent", "101"}, code: 2, stderr: "--percent must be between 0 and 100"},
		"a share that is not said":           {args: []string{"deployment", "ramp", "2"}, code: 2, stderr: "--percent must be between 0 and 100"},
		"a deployment without a name":        {args: []string{"deployment", "status", "--config", good}, code: 1, stderr: "the workers of this file have no versions"},
		"a server that keeps for weeks":      {args: []string{"temporal", "--retention", "2w"}, code: 1, stderr: "no database"},
		"a server that keeps for no time":    {args: []string{"temporal", "--retention", "soon"}, code: 2, stderr: "a duration such as 30s, 12h, 90d or 2w"},
		"a replay of weeks":                  {args: []string{"replay", "--since", "2w", "--limit", "-1"}, code: 2, stderr: "--limit must not be negative"},
		"a replay since no time":             {args: []string{"replay", "--since", "soon"}, code: 2, stderr: "--since soon is no time: write 7d or 12h"},
		"a replay of fewer than none":        {args: []string{"replay", "--limit", "-1"}, code: 2, stderr: "--limit must not be negative"},
		"what runs with the offline model":   {args: []string{"config", "adopt", "--demo-if-no-key", "--config", "none.yaml"}, code: 1, stderr: "failed to read config file"},
		"a key without a name":               {args: []string{"keys", "add"}, code: 2, stderr: "accepts 1 arg(s), received 0"},
		"a key that has ended":               {args: []string{"keys", "add", "ci", "--expires", "-1h", "--config", good}, code: 1, stderr: "expired already"},
		"all rules":                          {args: []string{"policy", "show", "--config", rules}, stdout: "hints of the tool"},
		"rules that say what is expected":    {args: []string{"policy", "test", "--config", rules, cases}, stdout: "8 cases, 0 differ\n"},
		"no rules":                           {args: []string{"policy", "test", "--config", good, cases}, code: 1, stderr: "has no approval.rules"},
		"no cases":                           {args: []string{"policy", "test", "--config", rules}, code: 2, stderr: "requires at least 1 arg"},
		"manual pages without their address": {args: []string{"man"}, code: 2, stderr: "accepts 1 arg(s), received 0"},
	}
	for name, c := range commands {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), c.args, env(), &stdout, &stderr)
			if exitCode(err) != c.code || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("code %d, printed\n%s\nand\n%s", exitCode(err), &stdout, &stderr)
			}
			if c.stderr == "" && stderr.Len() > 0 || c.stdout == "" && stdout.Len() > 0 {
				t.Errorf("printed to the wrong stream\n%s\nand\n%s", &stdout, &stderr)
			}
		})
	}
}

// A case that differs is explained, and the exit code says so.
func TestACaseThatDiffersIsExplained(t *testing.T) {
	cases := filepath.Join(t.TempDir(), "cases.yaml")
	if err := os.WriteFile(cases, []byte("cases: [{name: large, call: {tool: resources_add, args: {value: 700}}, expect: allow}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), []string{"policy", "test", "--config", filepath.Join("..", "..", "config", "examples", "rules.yaml"), cases}, env(), &stdout, &stderr)
	if exitCode(err) != 1 || stderr.String() != "agent: 1 of 1 cases differ\n" {
		t.Errorf("code %d: %s", exitCode(err), &stderr)
	}
	for _, part := range []string{
		"DIFFERS  large: ask by the rule large-values, not allow\n", `large-values (ask) is about it; tool is "resources_add", args.value is 700`,
		"no-patterns (deny) would be about it, but for: ", "No case is about: small-values, no-patterns, once-a-turn\n",
	} {
		if !strings.Contains(stdout.String(), part) {
			t.Errorf("no %q in\n%s", part, &stdout)
		}
	}
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"man", dir}, env(), &out, &out); err != nil {
		t.Fatal(err)
	}
	for page, says := range map[string]string{
		"agent.1": "Exit codes:", "agent-run.1": "TEMPORAL_ADDRESS", "agent-validate.1": "connect", "agent-completion-bash.1": "bash", "agent-keys-add.1": "Bearer",
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil || !strings.Contains(string(text), says) {
			t.Errorf("%s: %v\n%s", page, err, text)
		}
	}
}
