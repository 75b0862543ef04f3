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

// Identity is the name of this process at the server: PID@HOST@SPACE. SPACE identifies the
// boot of the kernel and the PID namespace, within which a PID is unique. It is empty if
// unknown.
func Identity() string {
	host, _ := os.Hostname() // without a name, the space distinguishes hosts
	return fmt.Sprintf("%d@%s@%s", os.Getpid(), host, space())
}

// IsDead reports whether the process with an identity is known to have ended; the server does
// not notice when it is killed. Containers may share a host name and have their own PIDs, so
// nothing is known about processes of other spaces.
func IsDead(identity string) bool {
	pid, place, _ := strings.Cut(identity, "@")
	_, own, _ := strings.Cut(Identity(), "@")
	number, err := strconv.Atoi(pid)
	if err != nil || number <= 0 || place != own || strings.HasSuffix(own, "@") {
		return false
	}
	return errors.Is(syscall.Kill(number, 0), syscall.ESRCH)
}

// space is empty where the kernel does not provide it, as on systems other than Linux.
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
