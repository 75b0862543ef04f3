package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

// A backup is made while people talk to the agent. After it, calls run that the restored agent
// does not know of: it must not run them again unseen.
func TestABackupOfARunningAgentIsRestored(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	u := shellUser{t, h.dir, h.environ()}
	long := api.ask("fill 20000 of a long answer")
	decided, waiting := api.ask(`call note_add {"name":"decided"}`), api.ask(`call note_add {"name":"waiting"}`)
	claimed := api.ask(`call note_add {"name":"claimed"}`)

	talk := talkTo(api)
	out, _ := u.run(0, "backup", "--config", h.configFile(), filepath.Join(h.dir, "copies"))
	before := talk.stop()
	if !strings.Contains(out, "databases and") || len(before) == 0 {
		t.Fatalf("printed %q, %d turns", out, len(before))
	}
	api.decide(decided.Result.Approval.UUID, `{"approved":true}`)
	api.decide(claimed.Result.Approval.UUID, `{"approved":true}`)
	late := api.ask("say something after the backup")
	agent.kill()

	if err := os.Rename(filepath.Join(h.dir, "data"), filepath.Join(h.dir, "lost")); err != nil {
		t.Fatal(err)
	}
	out, _ = u.run(0, "restore", "--config", h.configFile(), filepath.Join(h.dir, "copies"))
	if !strings.Contains(out, "agent resume all") {
		t.Errorf("printed %q", out)
	}
	copyKey(t, filepath.Join(h.dir, "lost"), filepath.Join(h.dir, "data"))
	if err := os.CopyFS(filepath.Join(h.dir, "data", "blobs", "claims"), newClaims(t, h.dir)); err != nil {
		t.Fatal(err)
	}
	api, agent = h.outside()

	if got := api.conversation(long.Conversation.ID).Messages; len(got) == 0 || len(got[len(got)-1].Content) < 20000 {
		t.Errorf("the long answer is not there: %d messages", len(got))
	}
	for _, turn := range before { // what was answered before the backup began is in it
		if turn.before && api.do("GET", "/conversations/"+turn.id, "").Status != 200 {
			t.Errorf("conversation %s is lost", turn.id)
		}
	}
	if got := api.do("GET", "/conversations/"+late.Conversation.ID, "").Status; got != 404 {
		t.Errorf("a conversation of after the backup: status %d", got)
	}
	for _, asked := range []body{decided, waiting, claimed} { // nobody says yes before it is clear what has run
		held := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
		if !held.Result.WaitingApproval || !strings.Contains(held.Result.Approval.Description, "restored from the backup of") {
			t.Fatalf("%+v", held.Result)
		}
	}
	agent.kill() // the pause is there to stay
	api, _ = h.outside()
	rejected := api.conversation(decided.Conversation.ID).PendingApproval
	api.decide(rejected.UUID, `{"approved":false,"reason":"it has run"}`)
	u.env = append(u.env, fmt.Sprintf("AGENT_URL=http://127.0.0.1:%d", h.ports.api))
	u.run(0, "resume", "all")
	eventually(t, "the call that waited runs", func() bool { return len(h.tools.called("note_add")) == 3 })
	eventually(t, "its conversation has the result", func() bool { return api.conversation(waiting.Conversation.ID).PendingApproval == nil })
	eventually(t, "the call that has been claimed is asked about", func() bool {
		w := api.conversation(claimed.Conversation.ID).PendingApproval
		return w != nil && strings.Contains(w.Description, "UNKNOWN")
	})
	calls := fmt.Sprint(h.tools.called("note_add"))
	for _, name := range []string{"decided", "waiting", "claimed"} {
		if strings.Count(calls, name) != 1 {
			t.Errorf("called %s", calls)
		}
	}
}

// newClaims returns the claims of the lost data that the restored ones do not have.
func newClaims(t *testing.T, dir string) fs.FS {
	t.Helper()
	lost, there := os.DirFS(filepath.Join(dir, "lost", "blobs", "claims")), os.DirFS(filepath.Join(dir, "data", "blobs", "claims"))
	claims := fstest.MapFS{}
	err := fs.WalkDir(lost, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if _, err := fs.Stat(there, path); err == nil {
			return nil
		}
		b, err := fs.ReadFile(lost, path)
		claims[path] = &fstest.MapFile{Data: b, Mode: 0o600}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// talk is a person who asks one thing after the other.
type talk struct {
	quit  chan struct{}
	ended sync.WaitGroup
	turns []talked
}

type talked struct {
	id     string
	before bool // the backup began
}

func talkTo(api *api) *talk {
	w := &talk{quit: make(chan struct{})}
	ready := make(chan struct{})
	w.ended.Go(func() {
		for i := 0; ; i++ {
			asked := api.ask(fmt.Sprintf("say %d", i))
			w.turns = append(w.turns, talked{asked.Conversation.ID, i < 3})
			if i == 2 {
				close(ready)
			}
			select {
			case <-w.quit:
				return
			default:
			}
		}
	})
	<-ready
	return w
}

func (w *talk) stop() []talked {
	close(w.quit)
	w.ended.Wait()
	return w.turns
}

// copyKey copies the key that backups do not have.
func copyKey(t *testing.T, from, to string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(from, "credential.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "credential.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A backup and a restore that are killed at any moment leave nothing that an agent would take for
// data, and the same command completes them.
func TestABackupAndARestoreThatAreKilled(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	asked := api.ask(`call note_add {"name":"waiting"}`)
	for i := range 500 { // so that there is time to kill
		if err := os.WriteFile(filepath.Join(h.dir, "data", fmt.Sprintf("notes-%d", i)), fmt.Append(nil, i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u := shellUser{t, h.dir, h.environ()}
	file, copies := h.configFile(), filepath.Join(h.dir, "copies")
	killed := 0
	for i := range 12 {
		killed += kill(t, u, filepath.Join(copies, "new.unfinished"), time.Duration(i)*5*time.Millisecond, "backup", "--config", file, copies)
	}
	u.run(0, "backup", "--config", file, copies)
	api.want(200, "GET", "/conversations/"+asked.Conversation.ID, "")
	agent.kill()
	if err := os.Rename(filepath.Join(h.dir, "data"), filepath.Join(h.dir, "lost")); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		killed += kill(t, u, filepath.Join(h.dir, "data", "restore.unfinished"), time.Duration(i)*5*time.Millisecond, "restore", "--config", file, copies)
		if _, err := os.Stat(filepath.Join(h.dir, "data", "temporal.db")); err == nil {
			break
		}
	}
	if killed < 2 {
		t.Errorf("%d of the commands were killed", killed)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "data", "restored.json")); err != nil {
		u.run(0, "restore", "--config", file, copies)
	}
	copyKey(t, filepath.Join(h.dir, "lost"), filepath.Join(h.dir, "data"))
	api, _ = h.outside()
	if got := api.conversation(asked.Conversation.ID).PendingApproval; got == nil || got.UUID != asked.Result.Approval.UUID {
		t.Errorf("what waited: %+v", got)
	}
}

// kill runs a command, kills it a time after a file has appeared, and returns 1 if it had not
// ended.
func kill(t *testing.T, u shellUser, file string, after time.Duration, args ...string) int {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "agent"), args...)
	cmd.Dir, cmd.Env = u.dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir}, u.env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for there := false; !there; {
		select {
		case <-ended:
			return 0
		case <-time.After(time.Millisecond):
			_, err := os.Stat(file)
			there = err == nil
		}
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err = <-ended
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return 1
	}
	return 0
}
