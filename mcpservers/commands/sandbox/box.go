package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// Path is the search path of every command.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Command is a program and its limits. Paths are absolute.
type Command struct {
	Program string   `json:"program"`
	Args    []string `json:"args"` // without the name of the program
	Env     []string `json:"env"`  // added to PATH, HOME, TMPDIR and LANG
	Dir     string   `json:"dir"`  // readable; "": the private folder
	// Script is written to a file in the private folder, whose path becomes the first argument.
	Script  string        `json:"-"`
	Read    []string      `json:"read"`
	Write   []string      `json:"write"`
	Network bool          `json:"network"`
	SHA256  string        `json:"sha256"` // hexadecimal digest of Program; "": any
	Time    time.Duration `json:"time"`   // 0: a minute
	Memory  int64         `json:"memory"` // bytes of each process; 0: no limit
	Output  int           `json:"-"`      // bytes of each stream; 0: 64,000
}

// Result is how a command ended. It was started in any case.
type Result struct {
	Stdout, Stderr Output
	Code           int    // exit code; -1 if a signal ended it
	Signal         string // the signal, such as "killed"
	TimedOut       bool   // Command.Time was over
	Cancelled      bool   // the context of the call ended
	Time           time.Duration
}

// Output is the beginning of a stream, cut at a rune. Bytes that are not UTF-8 are replaced.
type Output struct {
	Text string
	Size int64 // bytes that the command wrote
	Cut  bool  // whether a part is missing
}

// Abilities are the limits that this machine can set.
type Abilities struct {
	Files    bool // Landlock for files
	TCP      bool // Landlock for TCP
	Network  bool // a network namespace
	Children bool // a process namespace
	Memory   bool
	Death    bool // commands die with the server
}

// Box runs commands, a limited number at a time.
type Box struct {
	self      string
	places    chan struct{}
	abilities Abilities
	spaces    namespaces
}

// New finds out what the machine can limit. It starts this program for it. parallel is the number
// of commands that run at the same time.
func New(parallel int) (*Box, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	removeLeftovers()
	b := &Box{self: self, places: make(chan struct{}, parallel)}
	if err := b.detect(); err != nil {
		return nil, fmt.Errorf("try to start a limited process: %w", err)
	}
	return b, nil
}

// Abilities returns what commands are limited in.
func (b *Box) Abilities() Abilities { return b.abilities }

// Run starts a command and waits for it. An error means that it was not started; whatever happens
// afterwards is in the result.
func (b *Box) Run(ctx context.Context, c Command) (Result, error) {
	select {
	case b.places <- struct{}{}:
		defer func() { <-b.places }()
	case <-ctx.Done():
		return Result{}, fmt.Errorf("wait for other commands: %w", ctx.Err())
	}
	private, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", folderName, os.Getpid()))
	if err != nil {
		return Result{}, fmt.Errorf("make a private folder: %w", err)
	}
	defer removeAll(private)
	if err := c.complete(private); err != nil {
		return Result{}, err
	}
	return b.run(ctx, c, private)
}

// folderName begins the names of private folders; the process ID of the server follows.
const folderName = "mcp-command-"

// removeLeftovers removes the private folders of servers of this user that were killed.
func removeLeftovers() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), folderName+"*"))
	for _, folder := range folders {
		digits, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), folderName), "-")
		if pid, err := strconv.Atoi(digits); err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			removeAll(folder)
		}
	}
}

// removeAll also removes folders that the command made unreadable.
func removeAll(folder string) {
	if os.RemoveAll(folder) == nil {
		return
	}
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(folder)
}

// complete sets defaults and writes the script.
func (c *Command) complete(private string) error {
	if c.Time <= 0 {
		c.Time = time.Minute
	}
	if c.Output <= 0 {
		c.Output = 64_000
	}
	if c.Script != "" {
		file := filepath.Join(private, ".script")
		if err := os.WriteFile(file, []byte(c.Script), 0o400); err != nil {
			return fmt.Errorf("write the script: %w", err)
		}
		c.Args = append([]string{file}, c.Args...)
	}
	if c.Dir == "" {
		c.Dir = private
	}
	c.Env = environment(private, c.Env)
	c.Read = append(append([]string{}, c.Read...), c.Dir)
	c.Write = append(append([]string{}, c.Write...), private)
	return nil
}

// environment adds the defaults that own does not set. A name that is there twice would have either
// value, depending on the program.
func environment(private string, own []string) []string {
	var env []string
	for _, variable := range []string{"PATH=" + Path, "HOME=" + private, "TMPDIR=" + private, "LANG=C.UTF-8"} {
		name, _, _ := strings.Cut(variable, "=")
		if !slices.ContainsFunc(own, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			env = append(env, variable)
		}
	}
	return append(env, own...)
}

// wait waits for a command that has started, and then ends its process group.
func (b *Box) wait(ctx context.Context, cmd *exec.Cmd, c Command, stdout, stderr *stream) Result {
	begin := time.Now()
	var result Result
	var mu sync.Mutex
	kill := func(because *bool) func() {
		return func() {
			mu.Lock()
			defer mu.Unlock()
			*because = true
			killGroup(cmd.Process.Pid)
		}
	}
	timer := time.AfterFunc(c.Time, kill(&result.TimedOut))
	stop := context.AfterFunc(ctx, kill(&result.Cancelled))
	awaitExit(cmd.Process.Pid)
	ended := time.Now()
	timer.Stop()
	stop()
	killGroup(cmd.Process.Pid) // what it left behind; the process itself is not reaped yet
	_ = cmd.Wait()             // how it ended is in ProcessState, and reading cannot fail
	mu.Lock()
	defer mu.Unlock()
	result.Stdout, result.Stderr, result.Time = stdout.output(), stderr.output(), ended.Sub(begin)
	result.Code, result.Signal = cmd.ProcessState.ExitCode(), signalOf(cmd.ProcessState)
	if result.Signal == "" { // it had ended by itself before it was killed
		result.TimedOut, result.Cancelled = false, false
	}
	return result
}

// stream keeps the beginning of an output.
type stream struct {
	mu    sync.Mutex
	limit int
	kept  bytes.Buffer
	size  int64
}

// Write never fails, so that the command does not stop at the limit.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size += int64(len(p))
	if room := s.limit - s.kept.Len(); room > 0 {
		s.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (s *stream) output() Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.kept.Bytes()
	cut := s.size > int64(len(text))
	if cut {
		text = cutAtRune(text)
	}
	return Output{Text: strings.ToValidUTF8(string(text), "\uFFFD"), Size: s.size, Cut: cut}
}

// cutAtRune drops the beginning of a rune at the end.
func cutAtRune(text []byte) []byte {
	for back := 1; back <= utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[:at]
			}
			break
		}
	}
	return text
}
