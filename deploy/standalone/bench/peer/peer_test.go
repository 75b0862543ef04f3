package peer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/deploy/standalone/bench/peer"
)

func TestPeersOfTheRepositoryAreRead(t *testing.T) {
	peers, err := peer.Read("../peers")
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(peers))
	for i, p := range peers {
		names[i] = p.Name
	}
	if got := strings.Join(names, ", "); got != "agent as a peer, memory" {
		t.Errorf("read %s", got)
	}
	if dir := peers[1].Dir; !filepath.IsAbs(dir) || filepath.Base(dir) != "memory" {
		t.Errorf("memory runs in %s", dir)
	}
}

func TestDescriptionsThatAreIncompleteAreRefused(t *testing.T) {
	const steps = `
list: {url: "http://x", until: {state: done}}
approval: {url: "http://x", until: {state: waiting}}
decision: {url: "http://x", until: {state: done}}
`
	for name, test := range map[string]struct{ text, want string }{
		"no name":        {"command: [x]\nready: http://x" + steps, "name is missing"},
		"no command":     {"name: x\nready: http://x" + steps, "command is missing"},
		"no ready":       {"name: x\ncommand: [x]" + steps, "ready is missing"},
		"no steps":       {"name: x\ncommand: [x]\nready: http://x", "decision.until is missing"},
		"poll without":   {"name: x\ncommand: [x]\nready: http://x" + strings.Replace(steps, "done}}", "done}, poll: {}}", 1), "list.poll.url is missing"},
		"an unknown key": {"name: x\nport: 1\ncommand: [x]\nready: http://x" + steps, "field port not found"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := peer.Read(dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected %q", name, err, test.want)
		}
	}
}

func TestADirectoryWithoutPeersIsRefused(t *testing.T) {
	if _, err := peer.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no peers") {
		t.Error(err)
	}
}
