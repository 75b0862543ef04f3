package toolbox

import "syscall"

// childAttributes put a child into its own process group, so that it can be ended with its
// descendants, and have the kernel end it when we are killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
