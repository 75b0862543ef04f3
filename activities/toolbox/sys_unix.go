//go:build unix && !linux

package toolbox

import "syscall"

// childAttributes put a child into a group of its own, so that it can be ended
// with what it starts. When we are killed it ends because its input does.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
