package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/config/keyring"
)

// typed is a command that a page shows, with the output that it shows.
type typed struct{ command, output string }

var (
	shownBlock = regexp.MustCompile("(?ms)^```(sh|console)\n(.*?)^```")
	remark     = regexp.MustCompile(`(^|\s+)#.*$`)
	twoKeys    = regexp.MustCompile(`^k1:[^,]{44},k2:[^,]{44}$`)
	dateTime   = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`)
)

// pageCommands returns the commands of a page beside the README.md of deploy.
func pageCommands(t *testing.T, page string) (out []typed) {
	t.Helper()
	for _, block := range shownBlock.FindAllStringSubmatch(readPage(t, page), -1) {
		for line := range strings.Lines(block[2]) {
			command, isTyped := strings.CutPrefix(line, "$ ")
			if block[1] == "console" && !isTyped {
				out[len(out)-1].output += line
			} else if command = strings.TrimSpace(remark.ReplaceAllString(strings.TrimRight(command, "\n"), "")); command != "" {
				out = append(out, typed{command: command})
			}
		}
	}
	return out
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// newcomer follows a page: in a folder with bin and config/agent.yaml, at a machine with the folders
// that the page names.
type newcomer struct {
	*home
	names []string // pairs: what the page calls something, what it is called here
}

// follow makes the folder of a newcomer, in a home that nothing of has started yet.
func follow(h *home) *newcomer {
	h.t.Helper()
	bin, err := binaries()
	if err != nil {
		h.t.Fatal(err)
	}
	h.file = filepath.Join("config", "agent.yaml")
	r := &newcomer{home: h}
	for _, folder := range []string{"config", "backup", "etc/agent", "safe"} {
		if err := os.MkdirAll(filepath.Join(h.dir, folder), 0o700); err != nil {
			h.t.Fatal(err)
		}
	}
	for _, folder := range []string{"/backup/", "/etc/agent/", "/safe/"} {
		r.names = append(r.names, " "+folder, " "+h.dir+folder)
	}
	if err := os.Symlink(bin, filepath.Join(h.dir, "bin")); err != nil {
		h.t.Fatal(err)
	}
	return r
}

// exports sets a variable as the page does, for all that is started afterwards.
func (r *newcomer) exports(c typed) {
	r.t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(c.command, "export "), "=")
	r.more[name] = strings.TrimSpace(r.types(typed{command: c.command + " && printenv " + name}))
}

// types runs a command as the page has it, and requires its success.
func (r *newcomer) types(c typed) string {
	r.t.Helper()
	cmd := exec.Command("bash", "-c", strings.NewReplacer(r.names...).Replace(c.command))
	cmd.Dir = r.dir
	cmd.Env = append(r.environ(), "PATH="+filepath.Join(r.dir, "bin")+":"+os.Getenv("PATH"), "HOME="+r.dir, fmt.Sprintf("AGENT_URL=http://127.0.0.1:%d", r.ports.api))
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", c.command, err, out)
	}
	r.t.Log(c.command)
	return string(out)
}

// A backup is made and restored with the commands of README.md, one after the other. What waited,
// waits and runs then.
func TestTheCommandsOfBackupAndRestore(t *testing.T) {
	t.Parallel()
	r := follow(newHome(t))
	api, agent := r.outside()
	asked := api.ask(`call note_add {"name":"plum"}`)
	section := pageCommands(t, "README.md")
	for len(section) > 0 && !strings.HasPrefix(section[0].command, "agent backup") {
		section = section[1:]
	}
	if len(section) != 5 {
		t.Fatalf("the section has the commands %v", section)
	}
	r.types(section[0])
	agent.kill()
	copyKey(t, filepath.Join(r.dir, "data"), filepath.Join(r.dir, "safe"))
	if err := os.Rename(filepath.Join(r.dir, "data"), filepath.Join(r.dir, "lost")); err != nil {
		t.Fatal(err)
	}
	for _, c := range section[1:] {
		if c.command == "agent run" {
			start(t, r.dir, "agent", r.environ(), "run")
			continue
		}
		r.types(c)
	}
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	eventually(t, "the call has run", func() bool { return len(r.tools.called("note_add")) == 1 })
}

// The commands of SECURE.md, and those of README.md for an agent that runs.
func TestTheCommandsForAnAgentThatRuns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("needs openssl, as the pages do")
	}
	h := newHome(t)
	h.more = map[string]string{}
	r := follow(h)
	api, agent := r.outside()
	r.names = append(r.names, " UUID", " "+api.ask(`call note_add {"name":"plum"}`).Result.Approval.UUID, " ID", " "+api.ask("hello").Conversation.ID)
	r.types(typed{command: "agent keys add ci --config config/agent.yaml"})
	ran := 0
	for _, c := range append(pageCommands(t, "README.md"), pageCommands(t, "SECURE.md")...) {
		if leftOut(c.command) {
			continue
		}
		ran++
		if strings.HasPrefix(c.command, "export ") {
			r.exports(c)
			continue
		}
		r.types(c)
	}
	if ran < 14 {
		t.Errorf("only %d commands were run", ran)
	}
	if gone := api.do("GET", "/conversations/"+r.names[len(r.names)-1][1:], ""); gone.Status != 410 {
		t.Errorf("the deleted conversation: %d", gone.Status)
	}
	agent.kill()
	if keys := r.more[keyring.Variable]; !twoKeys.MatchString(keys) {
		t.Errorf("the keys are %s", keys)
	}
	r.outside() // with the new key behind the old one
}

// leftOut reports whether a command is not one for an agent that runs: it builds, is for another
// machine, goes on until somebody ends it, or is run by the test of backups.
func leftOut(command string) bool {
	words := strings.Fields(strings.TrimPrefix(command, "bin/"))
	switch {
	case words[0] == "export":
		return strings.HasPrefix(words[1], "TEMPORAL_")
	case words[0] != "agent" || command == "bin/agent approvals watch":
		return true
	}
	return slices.Contains([]string{"--config", "run", "chat", "backup", "restore"}, words[1])
}

// The key of ENCRYPTION.md is made with its command, and the agent is given it with its YAML.
func TestTheCommandOfEncryption(t *testing.T) {
	t.Parallel()
	r := follow(newHome(t))
	key := filepath.Join(r.dir, "etc", "agent", "encryption.key")
	r.types(pageCommands(t, "ENCRYPTION.md")[0])
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	_, block, _ := strings.Cut(readPage(t, "ENCRYPTION.md"), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	r.extra = strings.ReplaceAll(block, "/etc/agent/encryption.key", key)
	api, agent := r.outside()
	api.ask("say " + marker)
	agent.kill()
	for place := range r.inClear(t) {
		if !isExported(t, filepath.Join(r.dir, place)) {
			t.Errorf("%s has the text in clear", place)
		}
	}
}

// The commands of UPGRADE.md are run with workers of the versions that it names. What the
// distribution of the work is after each, the page shows.
func TestTheCommandsOfAnUpgrade(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.more = map[string]string{"TEMPORAL_DEPLOYMENT_NAME": "shop"}
	p := follow(h)
	r := newRamp(h)
	commands, ran := pageCommands(t, "UPGRADE.md"), 0
	started := map[string]bool{}
	for _, c := range commands {
		for _, version := range []string{"2.4.0", "2.5.0"} {
			if strings.HasPrefix(c.command, "agent deployment") && strings.Contains(c.command, version) && !started[version] {
				h.version(version)
				r.known(version)
				started[version] = true
			}
		}
		out := p.types(c)
		if ran++; c.output != "" && strings.HasPrefix(c.command, "agent deployment") && dateTime.ReplaceAllString(out, "AT") != dateTime.ReplaceAllString(c.output, "AT") {
			t.Errorf("%s prints\n%swhere the page has\n%s", c.command, out, c.output)
		}
	}
	if ran < 9 || len(started) != 2 {
		t.Errorf("%d commands of %v were run", ran, commands)
	}
	r.answeredBy(r.api.ask("hello").Conversation.ID, "2.4.0")
}
