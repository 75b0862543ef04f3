package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// namespaces are the flags of clone that work here.
type namespaces struct{ network, process, user bool }

func (n namespaces) flags(network bool) (flags uintptr) {
	if n.network && !network {
		flags |= syscall.CLONE_NEWNET
	}
	if n.process {
		flags |= syscall.CLONE_NEWPID
	}
	if n.user && flags != 0 {
		flags |= syscall.CLONE_NEWUSER
	}
	return flags
}

// detect tries which namespaces are permitted: with the rights of the process, else in a user namespace.
func (b *Box) detect() (err error) {
	abi := landlockABI()
	b.abilities = Abilities{Memory: true, Death: true, Files: abi >= 1, TCP: abi >= 4}
	for _, spaces := range []namespaces{
		{network: true, process: true}, {network: true, process: true, user: true},
		{process: true}, {process: true, user: true}, {network: true}, {network: true, user: true}, {},
	} {
		b.spaces = spaces
		if _, err = b.Run(context.Background(), Command{Time: 10 * time.Second}); !errors.Is(err, errNotPermitted) {
			b.abilities.Network, b.abilities.Children = spaces.network, spaces.process
			return err
		}
	}
	return err
}

// startTime is more than a process needs to limit itself.
const startTime = 30 * time.Second

// errNotPermitted: the kernel or a container does not permit namespaces.
var errNotPermitted = errors.New("namespaces are not permitted")

func (b *Box) run(ctx context.Context, c Command, _ string) (Result, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return Result{}, fmt.Errorf("encode the command: %w", err)
	}
	input, failure, err := pipes(text)
	if err != nil {
		return Result{}, err
	}
	stdout, stderr := &stream{limit: c.Output}, &stream{limit: c.Output}
	cmd := &exec.Cmd{Path: b.self, Args: []string{marker}, Env: []string{}, Stdout: stdout, Stderr: stderr, Dir: "/", WaitDelay: time.Second}
	cmd.ExtraFiles = []*os.File{input, failure.write}
	cmd.SysProcAttr = b.attributes(c.Network)

	// The signal at the death of the parent is sent when the thread ends that has started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	input.Close()
	failure.write.Close()
	defer failure.read.Close()
	if err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EACCES) {
			err = fmt.Errorf("%w: %w", errNotPermitted, err)
		}
		return Result{}, fmt.Errorf("start a process: %w", err)
	}
	late := time.AfterFunc(startTime, func() { killGroup(cmd.Process.Pid) })
	reason, err := io.ReadAll(failure.read) // ends when the command has started
	late.Stop()
	result := b.wait(ctx, cmd, c, stdout, stderr)
	if len(reason) > 0 || err != nil {
		return Result{}, errors.New(string(reason))
	}
	return result, nil
}

func (b *Box) attributes(network bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: b.spaces.flags(network)}
	if a.Cloneflags&syscall.CLONE_NEWUSER != 0 {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return a
}

type pipe struct{ read, write *os.File }

// pipes makes a file with the command, which a pipe may not hold, and a pipe for a failure.
func pipes(text []byte) (*os.File, pipe, error) {
	fd, err := unix.MemfdCreate("command", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, pipe{}, fmt.Errorf("make a file for the command: %w", err)
	}
	input := os.NewFile(uintptr(fd), "command")
	if _, err = io.Copy(input, bytes.NewReader(text)); err == nil {
		_, err = input.Seek(0, io.SeekStart)
	}
	if err != nil {
		input.Close()
		return nil, pipe{}, fmt.Errorf("write the command: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		input.Close()
		return nil, pipe{}, fmt.Errorf("make a pipe: %w", err)
	}
	return input, pipe{read, write}, nil
}

// awaitExit waits until a child has ended, without reaping it: its process group keeps its number.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
