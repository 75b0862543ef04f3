package toolbox

import "syscall"

// childAttributes put a child into a group of its own, so that it can be ended
// with what it starts, and have the kernel end it when we are killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
