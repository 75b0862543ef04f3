package sandbox

import (
	"os"
	"syscall"
)

// killGroup kills the process group of a child that is not reaped yet.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
