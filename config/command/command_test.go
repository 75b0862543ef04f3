package command_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/config/command"
	"agent-stop-and-go/config/process"
)

func TestCommandLines(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, peers := write("good.yaml", "name: tester\n"), write("peers.yaml", "name: tester\na2a: [{name: b, url: 'http://b'}]\n")
	doubtful := write("doubtful.yaml", "name: tester\nagent: {type: sequential, agents: [{name: a, prompt: 'about {nothing}'}]}\n")
	cases := map[string]struct {
		args   []string
		env    string
		ran    bool
		usage  bool
		stdout string
		says   string
	}{
		"runs with a configuration":       {args: []string{"--config", good}, ran: true},
		"prints its version":              {args: []string{"--version"}, stdout: "1.2.3\n"},
		"prints help":                     {args: []string{"--help"}, says: "how to use it"},
		"an unknown flag":                 {args: []string{"--nope"}, usage: true, says: "how to use it"},
		"an argument too many":            {args: []string{"extra"}, usage: true, says: `unexpected argument "extra"`},
		"a file that is not there":        {args: []string{"--config", filepath.Join(dir, "none.yaml")}, says: "failed to read config file"},
		"agents to delegate to":           {args: []string{"--config", peers}, ran: true},
		"a file that deserves a look":     {args: []string{"--config", doubtful}, ran: true, says: "doubtful.yaml:2: agent.agents[0].prompt"},
		"a log level that does not exist": {args: []string{"--config", good}, env: "loud", says: "LOG_LEVEL=loud: must be debug"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ran := false
			cmd := command.Command{Name: "tool", Usage: "how to use it\n", Version: "1.2.3",
				Run: func(_ context.Context, e command.Environment) error {
					ran = e.Config.Name == "tester"
					return nil
				}}
			getenv := func(name string) string {
				if name == "LOG_LEVEL" {
					return c.env
				}
				return ""
			}
			var stdout, stderr bytes.Buffer
			err := cmd.Execute(context.Background(), c.args, getenv, &stdout, &stderr)
			said := stderr.String()
			if err != nil {
				said += err.Error()
			}
			if ran != c.ran || errors.Is(err, process.ErrUsage) != c.usage || stdout.String() != c.stdout || !strings.Contains(said, c.says) {
				t.Errorf("ran %t, error %v, printed %q and %q", ran, err, stdout.String(), stderr.String())
			}
		})
	}
}
