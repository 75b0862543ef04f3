//go:build unix && !linux

package toolbox

import "syscall"

// childAttributes put a child into its own process group, so that it can be ended with its
// descendants. If we are killed, it ends because its input is closed.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
