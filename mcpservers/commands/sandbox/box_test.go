package sandbox_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/commands/sandbox"
)

const asServer = "SANDBOX_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		serve()
	}
	os.Exit(m.Run())
}

// serve runs a command that starts another one in the background and prints the process ids as this
// process sees them, which is killed meanwhile.
func serve() {
	box, err := sandbox.New(1)
	if err == nil {
		_, err = box.Run(context.Background(), sandbox.Command{Program: "/bin/bash", Script: "sleep 300 & touch " + os.Getenv(asServer) + "; wait", Write: []string{filepath.Dir(os.Getenv(asServer))}})
	}
	fmt.Println(err)
	os.Exit(0)
}

func box(t *testing.T) *sandbox.Box {
	t.Helper()
	b, err := sandbox.New(4)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func run(t *testing.T, b *sandbox.Box, c sandbox.Command) sandbox.Result {
	t.Helper()
	r, err := b.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bash(script string) sandbox.Command {
	return sandbox.Command{Program: "/bin/bash", Script: script}
}

func TestACommandGetsExactlyItsArgumentsAndEnvironment(t *testing.T) {
	c := bash(`printf '[%s]' "$@"; echo; env | sort | grep -v '^_=\|^SHLVL=\|^PWD='`)
	c.Args, c.Env = []string{"", "a b", "*", "$(id)", "-x", "é\n"}, []string{"X=1 2"}
	got := run(t, box(t), c)
	want := "[][a b][*][$(id)][-x][é\n]\n"
	if !strings.HasPrefix(got.Stdout.Text, want) || got.Code != 0 {
		t.Errorf("%+v", got)
	}
	env := strings.Split(strings.TrimSpace(strings.TrimPrefix(got.Stdout.Text, want)), "\n")
	if len(env) != 5 || env[1] != "LANG=C.UTF-8" || env[2] != "PATH="+sandbox.Path || env[4] != "X=1 2" {
		t.Errorf("the environment is %q", env)
	}
}

func TestADefinitionReplacesDefaultsOfTheEnvironment(t *testing.T) {
	got := run(t, box(t), sandbox.Command{Program: "/usr/bin/env", Env: []string{"LANG=C", "PATH=/usr/bin:/bin"}})
	if strings.Count(got.Stdout.Text, "PATH=") != 1 || strings.Count(got.Stdout.Text, "LANG=") != 1 || strings.Count(got.Stdout.Text, "HOME=") != 1 || !strings.Contains(got.Stdout.Text, "PATH=/usr/bin:/bin\n") {
		t.Errorf("%+v", got)
	}
}

func TestTheLimitOfCPUTimeLetsAllCoresWork(t *testing.T) {
	b := box(t)
	if !b.Abilities().Memory {
		t.Skip("not on this system")
	}
	c := bash(`ulimit -t`)
	c.Time = 10 * time.Second
	if got, want := run(t, b, c), fmt.Sprintln(12*runtime.NumCPU()); got.Stdout.Text != want {
		t.Errorf("%+v, want %s", got, want)
	}
}

func TestOutputIsCutAtARuneAndBothStreamsAreKeptOnFailure(t *testing.T) {
	c := bash(`printf 'ééé'; printf 'bad\xff' >&2; exit 3`)
	c.Output = 5
	got := run(t, box(t), c)
	if got.Stdout.Text != "éé" || !got.Stdout.Cut || got.Stdout.Size != 6 || got.Stderr.Text != "bad\uFFFD" || got.Stderr.Cut || got.Code != 3 {
		t.Errorf("%+v", got)
	}
}

func TestTimeIsLimitedForTheWholeGroup(t *testing.T) {
	c := bash(`sleep 300 & sleep 300`)
	c.Time = 200 * time.Millisecond
	begin := time.Now()
	got := run(t, box(t), c)
	if !got.TimedOut || got.Signal != "killed" || time.Since(begin) > 10*time.Second {
		t.Errorf("after %v: %+v", time.Since(begin), got)
	}
}

func TestACallThatIsCancelledEndsItsCommand(t *testing.T) {
	b := box(t)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	got, err := b.Run(ctx, bash(`echo begun; sleep 300`))
	if err != nil || !got.Cancelled || got.TimedOut || got.Stdout.Text != "begun\n" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestWhatACommandLeavesBehindIsKilled(t *testing.T) {
	dir := t.TempDir()
	c := bash(`setsid sh -c 'sleep 1; touch "$0"' "$1" & (sleep 1; touch "$1") & echo done`)
	c.Args, c.Write = []string{filepath.Join(dir, "late")}, []string{dir}
	b := box(t)
	begin := time.Now()
	if got := run(t, b, c); got.Code != 0 || got.Stdout.Text != "done\n" || time.Since(begin) > 900*time.Millisecond && b.Abilities().Children {
		t.Errorf("%v: %+v", time.Since(begin), got)
	}
	if !b.Abilities().Children {
		t.Skip("no process namespaces: a process that leaves its group stays")
	}
	time.Sleep(1200*time.Millisecond - time.Since(begin))
	if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
		t.Error("a process went on after its command")
	}
}

func TestMemoryIsLimited(t *testing.T) {
	b := box(t)
	if !b.Abilities().Memory {
		t.Skip("not on this system")
	}
	c := bash(`x=$(head -c 200000000 /dev/zero | tr '\0' a); echo ${#x}`)
	c.Memory = 64 << 20
	if got := run(t, b, c); got.Code == 0 && strings.Contains(got.Stdout.Text, "200000000") {
		t.Errorf("%+v", got)
	}
}

func TestOnlyDeclaredFilesAreReached(t *testing.T) {
	b := box(t)
	if !b.Abilities().Files {
		t.Skip("no Landlock")
	}
	dir := t.TempDir()
	for _, name := range []string{"secret", "read", "write"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := bash(`cd /; cat "$1/read"; cat "$1/secret"; echo x >>"$1/read"; echo x >>"$1/write"; echo x >"$1/new"; echo own >"$HOME/own" && cat "$HOME/own"; cat /etc/shadow; cat /proc/$PPID/environ; echo x >/tmp/mcp-escape; ls /root`)
	c.Args, c.Read, c.Write = []string{dir}, []string{filepath.Join(dir, "read")}, []string{filepath.Join(dir, "write")}
	got := run(t, b, c)
	if got.Stdout.Text != "readown\n" {
		t.Errorf("it printed %q\n%s", got.Stdout.Text, got.Stderr.Text)
	}
	for name, want := range map[string]string{"read": "read", "write": "writex\n"} {
		if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
			t.Errorf("%s is %q", name, text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("it wrote a file that was not declared")
	}
}

func TestThereIsNoNetworkUnlessDeclared(t *testing.T) {
	b := box(t)
	if !b.Abilities().Network && !b.Abilities().TCP {
		t.Skip("neither namespaces nor Landlock")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	c := bash(`exec 3<>/dev/tcp/127.0.0.1/"$1" && echo connected`)
	c.Args = []string{strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	if got := run(t, b, c); got.Code == 0 || got.Stdout.Text != "" {
		t.Errorf("without: %+v", got)
	}
	c.Network = true
	if got := run(t, b, c); got.Stdout.Text != "connected\n" {
		t.Errorf("with: %+v", got)
	}
}

func TestAProgramMustHaveItsDigest(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tool")
	text := "#!/bin/sh\necho \"$0 $1\"\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	c := sandbox.Command{Program: program, Args: []string{"a"}, SHA256: hex.EncodeToString(sum[:])}
	b := box(t)
	if got := run(t, b, c); !strings.HasSuffix(got.Stdout.Text, " a\n") {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(program, []byte(text+"echo more\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("%+v %v", got, err)
	}
}

func TestAProgramThatCannotStartIsAnError(t *testing.T) {
	if got, err := box(t).Run(t.Context(), sandbox.Command{Program: "/no/such/program"}); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("%+v %v", got, err)
	}
}

func TestCommandsDieWithAKilledServer(t *testing.T) {
	dir := t.TempDir()
	begun := filepath.Join(dir, "begun")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"="+begun)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	until(t, func() bool { _, err := os.Stat(begun); return err == nil })
	pids := below(t, cmd.Process.Pid)
	if len(pids) < 2 {
		t.Fatalf("it started %v", pids)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	until(t, func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	})
}

func TestFoldersOfKilledServersAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	gone := exec.Command("/bin/true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(os.TempDir(), fmt.Sprintf("mcp-command-%d-1", gone.Process.Pid))
	own := filepath.Join(os.TempDir(), fmt.Sprintf("mcp-command-%d-1", os.Getpid()))
	for _, folder := range []string{filepath.Join(left, "a"), own} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	box(t)
	if _, err := os.Stat(left); err == nil {
		t.Error("the folder of a killed server stays")
	}
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
}

// below are all processes below one.
func below(t *testing.T, root int) (pids []int) {
	t.Helper()
	out, err := exec.Command("ps", "-e", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Skip("no ps: ", err)
	}
	parents := map[int]int{}
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		var pid, parent int
		if _, err := fmt.Sscan(lines.Text(), &pid, &parent); err == nil {
			parents[pid] = parent
		}
	}
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if at == root && pid != root {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return !strings.Contains(string(stat), ") Z ")
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within 20 seconds")
		}
	}
}
