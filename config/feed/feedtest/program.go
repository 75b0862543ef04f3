package feedtest

import (
	"fmt"
	"net"
	"os/exec"
)

// program is a redis-server in a process of its own.
type program struct{ *exec.Cmd }

// startProgram starts a redis-server without persistence. It does not wait until it listens.
func startProgram(path, addr, password, dir string) (engine, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "--port", port, "--bind", host, "--save", "", "--dir", dir)
	if password != "" {
		cmd.Args = append(cmd.Args, "--requirepass", password)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return program{cmd}, nil
}

func (p program) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}
