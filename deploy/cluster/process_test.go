//go:build cluster

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// process is a program of the cluster, which may be started again.
type process struct {
	name string
	cmd  *exec.Cmd
	out  output
	done chan struct{}
	stop syscall.Signal // that ends it with the test
}

// output keeps what a program prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts a program, which ends with the test.
func start(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{name: name, cmd: cmd, stop: syscall.SIGTERM}
	cmd.SysProcAttr = orphanless(cmd.SysProcAttr)
	p.run(t)
	t.Cleanup(func() {
		p.end(t, p.stop)
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, p.out.String())
		}
	})
	return p
}

// run starts the program.
func (p *process) run(t *testing.T) {
	t.Helper()
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", p.name, err)
	}
	cmd, done := p.cmd, make(chan struct{})
	p.done = done
	go func() {
		_ = cmd.Wait() // a test that cares looks at what is missing
		close(done)
	}()
}

// again starts the program once more, after its end.
func (p *process) again(t *testing.T) {
	t.Helper()
	<-p.done
	was := p.cmd
	p.cmd = &exec.Cmd{Path: was.Path, Args: was.Args, Env: was.Env, Dir: was.Dir, SysProcAttr: was.SysProcAttr}
	p.run(t)
}

// orphanless makes the kernel end a process with the test.
func orphanless(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	a.Pdeathsig = syscall.SIGKILL
	return a
}

// end sends a signal and waits for the end.
func (p *process) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); errors.Is(err, os.ErrProcessDone) {
		return
	}
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		t.Errorf("%s did not end", p.name)
		_ = p.cmd.Process.Kill()
	}
}

// usage is what a process and its children have used.
type usage struct {
	cpu time.Duration
	rss int64 // bytes, now
}

const clockTicks = 100 // of USER_HZ, on every Linux that Go runs on

// usage sums up the process and its children, such as the backends of PostgreSQL.
func (p *process) usage(t *testing.T) usage {
	t.Helper()
	var sum usage
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest) // from the third field of proc(5) on
		parent, _ := strconv.Atoi(fields[1])
		own := pid == p.cmd.Process.Pid
		if !own && parent != p.cmd.Process.Pid {
			continue
		}
		columns := []int{11, 12}
		if own {
			columns = []int{11, 12, 13, 14} // and of children that have ended
		}
		for _, c := range columns {
			ticks, _ := strconv.ParseInt(fields[c], 10, 64)
			sum.cpu += time.Duration(ticks) * time.Second / clockTicks
		}
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		sum.rss += pages * int64(os.Getpagesize())
	}
	return sum
}

// Ports of programs: below those that Linux gives to outgoing connections, any of which could take
// the port of a program that was killed.
const (
	firstPort = 12000
	lastPort  = 30000
)

var nextPort atomic.Int64

// freePort returns a port that was free a moment ago, and that nothing else in the test gets.
func freePort(t *testing.T) int {
	t.Helper()
	for range lastPort - firstPort {
		// Packages and runs beside this one begin elsewhere.
		port := firstPort + (97*os.Getpid()+int(nextPort.Add(1)))%(lastPort-firstPort)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("no port from %d to %d is free", firstPort, lastPort)
	return 0
}

func TestPortsOfProgramsAreNoneOfOutgoingConnections(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Skip(err) // not on Linux
	}
	var first, last int
	if _, err := fmt.Sscan(string(text), &first, &last); err != nil {
		t.Fatal(err)
	}
	one, other := freePort(t), freePort(t)
	if one == other || one >= first && one <= last || other >= first && other <= last {
		t.Errorf("ports %d and %d; connections take those from %d to %d", one, other, first, last)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// answers waits until a URL answers 200.
func answers(t *testing.T, url string) {
	t.Helper()
	eventually(t, url+" answers", func() error {
		resp, err := http.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return nil
	})
}
