package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	said := talk.stop()
	if !strings.Contains(out, "databases and") {
		t.Fatalf("printed %q", out)
	}
	moment := momentOf(t, out)
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
	compare(t, api, said, moment)
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

// compare looks for what people have said: what was answered before the moment of a backup is
// there, with its answer, and what was sent after it is not.
func compare(t *testing.T, api *api, said []saying, moment time.Time) {
	t.Helper()
	var kept, lost int
	var newest time.Time // when the last of those that are there was answered
	for _, s := range said {
		switch there := s.isThere(api); {
		case there:
			kept++
			if s.answered.After(newest) {
				newest = s.answered
			}
			if s.sent.After(moment) {
				t.Errorf("%q was sent %s after the moment, and is there", s.text, s.sent.Sub(moment))
			}
		default:
			lost++
			if s.answered.Before(moment) {
				t.Errorf("%q was answered %s before the moment, and is lost", s.text, moment.Sub(s.answered))
			}
		}
	}
	if kept == 0 || lost == 0 {
		t.Errorf("%d messages are there and %d are lost: nothing was compared", kept, lost)
	}
	t.Logf("%d messages were answered: %d are there, the newest answered %s before the moment of the backup (negative: after it); %d are lost",
		len(said), kept, moment.Sub(newest).Round(time.Millisecond), lost)
}

// saying is a message to a conversation that was answered.
type saying struct {
	id, text       string
	sent, answered time.Time
}

// isThere reports whether a conversation has the message and its answer.
func (s saying) isThere(api *api) bool {
	r := api.do("GET", "/conversations/"+s.id+"?include=messages", "")
	all := r.Body.Conversation.Messages
	i := slices.IndexFunc(all, func(m message) bool { return m.Role == "user" && m.Content == s.text })
	return r.Status == 200 && i >= 0 && slices.ContainsFunc(all[i:], func(m message) bool {
		return m.Role == "assistant" && "say "+m.Content == s.text
	})
}

// momentOf is the moment of a backup, from what the command has printed.
func momentOf(t *testing.T, printed string) time.Time {
	t.Helper()
	_, after, _ := strings.Cut(printed, "as of ")
	moment, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(after))
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// talk is people who say one thing after the other, in new conversations and in these again.
type talk struct {
	quit  chan struct{}
	ended sync.WaitGroup
	mu    sync.Mutex
	said  []saying
}

// talkTo returns when all of them have been answered.
func talkTo(api *api) *talk {
	w := &talk{quit: make(chan struct{})}
	var ready sync.WaitGroup
	for person := range 4 {
		ready.Add(1)
		first := sync.OnceFunc(ready.Done)
		w.ended.Go(func() {
			defer first()
			for i := 0; ; i++ {
				text := fmt.Sprintf("say %d of person %d", i, person)
				sent := time.Now()
				id := api.ask(text).Conversation.ID
				w.note(saying{id, text, sent, time.Now()})
				sent, text = time.Now(), text+" again"
				api.say(id, text)
				w.note(saying{id, text, sent, time.Now()})
				first()
				select {
				case <-w.quit:
					return
				default:
				}
			}
		})
	}
	ready.Wait()
	return w
}

func (w *talk) note(s saying) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, s)
}

func (w *talk) stop() []saying {
	close(w.quit)
	w.ended.Wait()
	return w.said
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
