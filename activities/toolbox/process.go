package toolbox

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"agent-stop-and-go/activities/toolbox/child"
)

// How long a child may take to end after its input was closed, and again after SIGTERM; and how
// long one write to it may take.
const (
	grace      = 2 * time.Second
	writeLimit = 10 * time.Second
)

var (
	errNotWritten = errors.New("the request could not be written")
	errEnded      = errors.New("the process has ended")
)

// process is a child that speaks MCP on its standard streams. It ends when its input is closed,
// and on Linux with our process at the latest.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	done   chan struct{}
	err    error // why it ended; set before done is closed
}

// startProcess starts the command of a server.
func startProcess(s Server, logger *slog.Logger) (*process, error) {
	path, err := child.Find(s.Command)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(path, s.Args...), done: make(chan struct{})}
	stderr := child.NewLog(logger.With("server", s.Name), s.mask(""))
	p.cmd.Env = child.Environment(s.Env)
	p.cmd.Stderr = stderr
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go p.live(started, stderr)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Command, err)
	}
	return p, nil
}

// live runs the child. It holds its thread as long as the child lives: the signal at our death
// is sent when the thread that started the child ends.
func (p *process) live(started chan<- error, stderr *child.Log) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.start()
	started <- err
	if err != nil {
		return
	}
	err = p.cmd.Wait()
	stderr.Flush()
	p.signal(syscall.SIGKILL) // processes of its group that are still alive
	p.err = errEnded
	if err != nil {
		p.err = fmt.Errorf("%w: %w", errEnded, err)
	}
	// Another process that holds the other end must not block the reader.
	_ = p.stdout.SetReadDeadline(time.Now().Add(time.Second))
	close(p.done)
}

func (p *process) start() error {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer inRead.Close()
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		inWrite.Close()
		return err
	}
	defer outWrite.Close()
	p.cmd.Stdin, p.cmd.Stdout = inRead, outWrite
	p.stdin, p.stdout = inWrite, outRead
	if err := p.cmd.Start(); err != nil {
		inWrite.Close()
		outRead.Close()
		return err
	}
	return nil
}

// endReason returns why the child has ended, or nil while it runs.
func (p *process) endReason() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// awaitEnd waits a moment for the end of a child whose output has ended: the output ends first
// and does not tell the reason.
func (p *process) awaitEnd() error {
	select {
	case <-p.done:
		return p.err
	case <-time.After(time.Second):
		return errEnded
	}
}

// signal signals the child and everything it started. After the end of the child its process ID
// may belong to another process.
func (p *process) signal(sig syscall.Signal) {
	if p.endReason() == nil {
		_ = syscall.Kill(-p.cmd.Process.Pid, sig)
	}
}

// stop ends the child, with increasing force, and returns when it has ended.
func (p *process) stop() {
	p.stdin.Close()
	defer p.stdout.Close()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		select {
		case <-p.done:
			return
		case <-time.After(grace):
			p.signal(sig)
		}
	}
	<-p.done
}

func (p *process) input() io.WriteCloser { return &childInput{p} }

// childInput writes whole messages or ends the child: after half a message the stream is
// useless.
type childInput struct{ p *process }

func (w *childInput) Write(b []byte) (int, error) {
	_ = w.p.stdin.SetWriteDeadline(time.Now().Add(writeLimit))
	n, err := w.p.stdin.Write(b)
	if err == nil {
		return n, nil
	}
	w.p.signal(syscall.SIGKILL)
	if n == 0 {
		err = fmt.Errorf("%w: %w", errNotWritten, err)
	}
	return n, err
}

func (w *childInput) Close() error { return w.p.stdin.Close() }
