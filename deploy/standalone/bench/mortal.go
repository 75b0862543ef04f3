package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"agent-stop-and-go/config/command"
	"agent-stop-and-go/deploy/standalone/bench/peer"
	"agent-stop-and-go/deploy/standalone/process"
)

// mortal is an agent in its own process, which can be killed.
type mortal struct {
	*site
	file string
	env  []string
	args []string // further arguments
	cmd  *exec.Cmd
	born time.Time // start of the current process
}

// newMortal makes an agent with the given prompt or tree, and starts it with further arguments.
func newMortal(dir, agent string, f *farEnds, args ...string) (*mortal, error) {
	m, err := prepared(dir, agent, f, args...)
	if err != nil {
		return nil, err
	}
	return m, m.start()
}

// prepared makes an agent that does not run yet.
func prepared(dir, agent string, f *farEnds, args ...string) (*mortal, error) {
	ports, err := peer.FreePorts(2)
	if err != nil {
		return nil, err
	}
	text := agentFile(strconv.Itoa(ports[0]), filepath.Join(dir, "data"), f.tools.URL+"/mcp", strconv.Itoa(ports[1]), agent)
	m := &mortal{
		site: &site{url: fmt.Sprintf("http://127.0.0.1:%d", ports[0]), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}},
		file: filepath.Join(dir, "agent.yaml"),
		args: args,
		env:  append(os.Environ(), "OPENAI_API_KEY=bench", "OPENAI_BASE_URL="+f.model.URL(), "LOG_LEVEL=error"),
	}
	return m, os.WriteFile(m.file, []byte(text), 0o600)
}

// agentFile is the file of an agent with the given prompt or tree, on its own port and that of
// its Temporal server.
func agentFile(port, data, tools, temporal, agent string) string {
	return fmt.Sprintf(`name: mortal
host: 127.0.0.1
port: %s
data_dir: %s
llm: {model: "openai:bench"}
mcp_servers:
  - {name: bench, url: "%s"}
temporal: {port: %s, ui_port: 0}
%s`, port, data, tools, temporal, agent)
}

// start runs this program as the agent.
func (m *mortal) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	m.cmd = exec.Command(self, append([]string{"-agent", m.file}, m.args...)...)
	m.cmd.Env, m.cmd.Stderr = m.env, os.Stderr
	m.born = time.Now()
	return m.cmd.Start()
}

func (m *mortal) kill() error {
	if err := m.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	_ = m.cmd.Wait() // the error reports the kill
	return nil
}

// stop ends the process in order, so that it writes its CPU profile.
func (m *mortal) stop() error {
	if err := m.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return m.cmd.Wait()
}

// serve is the agent's process.
func serve(ctx context.Context, file, heaps string) error {
	defer process.LimitMemory(os.Getenv)() // like the agent itself
	if heaps != "" {
		go writeHeaps(heaps)
	}
	e, err := command.Open(file, os.Getenv, io.Discard, os.Stderr)
	if err != nil {
		return err
	}
	stop, err := e.Observe(ctx, "agent", "bench")
	if err != nil {
		return err
	}
	defer stop()
	p, err := process.Start(ctx, e.Config, process.Options{Getenv: os.Getenv, Logger: e.Logger, Version: "bench", Metrics: e.Telemetry.Handler()})
	if err != nil {
		return err
	}
	select {
	case err := <-p.Failed:
		return err
	case <-ctx.Done():
		return p.Stop(context.WithoutCancel(ctx))
	}
}
