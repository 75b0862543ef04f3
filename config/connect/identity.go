package connect

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"agent-stop-and-go/workflows/contract"
)

// Identity is what the server calls this process: PID@HOST@SPACE. SPACE stands for where
// the PID is that of one process only: a start of a kernel, and a namespace of it. It is
// empty where that is not known.
func Identity() string {
	host, _ := os.Hostname() // without a name the space tells hosts apart
	return fmt.Sprintf("%d@%s@%s", os.Getpid(), host, space())
}

// IsDead reports whether the process of an identity is known to have ended, which the
// server does not notice when it is killed. Containers may share the name of their host
// and have PIDs of their own: of their processes nothing is known.
func IsDead(identity string) bool {
	pid, place, _ := strings.Cut(identity, "@")
	_, own, _ := strings.Cut(Identity(), "@")
	number, err := strconv.Atoi(pid)
	if err != nil || number <= 0 || place != own || strings.HasSuffix(own, "@") {
		return false
	}
	return errors.Is(syscall.Kill(number, 0), syscall.ESRCH)
}

// space is empty where the kernel does not say, as on systems other than Linux.
var space = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return contract.Hash([]byte(string(boot) + namespace))[:8]
})
