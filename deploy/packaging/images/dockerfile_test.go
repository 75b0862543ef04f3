package images_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// root is the folder of the project.
const root = "../../.."

// images are the targets that ship.
var images = []string{"worker", "gateway", "web", "mcp-resources", "mcp-filesystem", "mcp-commands", "mcp-sql", "mcp-web", "mcp-openapi", "mcp-prompt", "mcp-drive", "agent"}

// stages parses the Dockerfile. What the linter of BuildKit says of it is an error.
func stages(t *testing.T) []instructions.Stage {
	t.Helper()
	text, err := os.ReadFile(root + "/deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range parsed.Warnings {
		t.Errorf("line %d: %s", w.Location.Start.Line, w.Short)
	}
	lint := linter.New(&linter.Config{ExperimentalAll: true, Warn: func(rule, description, _, message string, at []parser.Range) {
		t.Errorf("lines %v: %s: %s (%s)", at, rule, message, description)
	}})
	all, _, err := instructions.Parse(parsed.AST, lint)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func stage(t *testing.T, all []instructions.Stage, name string) instructions.Stage {
	t.Helper()
	i := slices.IndexFunc(all, func(s instructions.Stage) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no stage %s", name)
	}
	return all[i]
}

// commands are the commands of one type in a stage.
func commands[C any](s instructions.Stage) (out []C) {
	for _, c := range s.Commands {
		if found, ok := c.(C); ok {
			out = append(out, found)
		}
	}
	return out
}

func TestTheDockerfileIsClean(t *testing.T) {
	all := stages(t)
	if last := all[len(all)-1].Name; last != "agent" {
		t.Errorf("without a target the image is %s", last)
	}
	users := commands[*instructions.UserCommand](stage(t, all, "base"))
	if len(users) != 1 || strings.HasPrefix(users[0].User, "0") || users[0].User == "root" {
		t.Errorf("the images run as %v", users)
	}
}

func TestEveryImageHasWhatItNeeds(t *testing.T) {
	all := stages(t)
	for _, name := range images {
		s := stage(t, all, name)
		if s.BaseName != "base" {
			t.Errorf("%s is made from %s", name, s.BaseName)
		}
		if n := len(commands[*instructions.UserCommand](s)); n > 0 {
			t.Errorf("%s runs as another user", name)
		}
		if n := len(commands[*instructions.HealthCheckCommand](s)); n != 1 {
			t.Errorf("%s has %d health checks", name, n)
		}
		entry := commands[*instructions.EntrypointCommand](s)
		if len(entry) != 1 || entry[0].PrependShell || entry[0].CmdLine[0] != "/usr/bin/"+name {
			t.Errorf("%s starts with %v", name, entry)
		}
		if !slices.ContainsFunc(commands[*instructions.CopyCommand](s), func(c *instructions.CopyCommand) bool {
			return c.SourcePaths[0] == "/out/"+name
		}) {
			t.Errorf("%s does not contain its binary", name)
		}
	}
}
