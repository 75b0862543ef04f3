package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var nightRow = regexp.MustCompile("(?m)^\\| (.*?) \\|.*\\| `([^`|]+)` *\\|$")

// The commands of the page for the night run, one after the other, against an agent with an
// approval that waits.
func TestTheCommandsOfTheNight(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../NIGHT.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := nightRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 15 {
		t.Fatalf("only %d rows", len(rows))
	}
	h := newHome(t)
	api, _ := h.outside()
	waiting := api.ask(`call note_add {"name":"plum"}`).Conversation.ID
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	local := strings.NewReplacer("127.0.0.1:8080", fmt.Sprintf("127.0.0.1:%d", h.ports.api), "config/agent.yaml", h.file)
	if err := os.WriteFile(filepath.Join(h.dir, "agent.log"), []byte(`{"level":"ERROR"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(command string) {
		t.Helper()
		cmd := exec.Command("bash", "-c", local.Replace(command))
		cmd.Dir, cmd.Env = h.dir, append(h.environ(), "PATH="+bin+":"+os.Getenv("PATH"), fmt.Sprintf("AGENT_URL=http://127.0.0.1:%d", h.ports.api))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	run("agent keys add ci --config " + h.file)
	for _, row := range rows {
		run(strings.Replace(row[2], " ID", " "+waiting, 1))
	}
	run("agent resume all")
}
