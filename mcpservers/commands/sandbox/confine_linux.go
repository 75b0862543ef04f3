package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// marker is the name under which this program limits itself and becomes a command.
const marker = "mcp-command-confined"

const (
	commandFD = 3 // the Command as JSON
	failureFD = 4 // why the command could not be started; closed by exec
)

// In a process that [Box.Run] has started this never returns. It is an init function because packages that
// are imported after this one need milliseconds for theirs, at each call.
func init() {
	if len(os.Args) != 1 || os.Args[0] != marker {
		return
	}
	runtime.LockOSThread()
	failure := os.NewFile(failureFD, "failure")
	syscall.CloseOnExec(failureFD)
	err := become(os.NewFile(commandFD, "command"))
	fmt.Fprint(failure, err)
	syscall.Exit(127) // without the second that the race detector waits in os.Exit
}

func become(file *os.File) error {
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	file.Close()
	var c Command
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("read the command: %w", err)
	}
	if err := os.Chdir(c.Dir); err != nil {
		return fmt.Errorf("enter the folder: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	program := c.Program
	var pinned *os.File
	if c.SHA256 != "" {
		if pinned, err = pin(c.Program, c.SHA256); err != nil {
			return err
		}
		program = fmt.Sprintf("/proc/self/fd/%d", pinned.Fd())
		defer pinned.Close()
	}
	if err := c.restrict(); err != nil {
		return err
	}
	if err := c.limit(); err != nil {
		return err
	}
	if c.Program == "" {
		syscall.Exit(0) // only what can be limited was asked for
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("die with the server: %w", err)
	}
	if err := syscall.Exec(program, append([]string{c.Program}, c.Args...), c.Env); err != nil {
		return fmt.Errorf("start %s: %w", c.Program, explain(err))
	}
	return nil
}

func explain(err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return errors.New("the values are too long together")
	}
	return err
}

// pin opens a program and checks its digest. The open file is what runs.
func pin(path, want string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY, 0) // stays open across exec: a script is read through it
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	file := os.NewFile(uintptr(fd), path)
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return nil, fmt.Errorf("%s has changed: its sha256 is %s, the definition wants %s", path, got, want)
	}
	return file, nil
}

func (c *Command) limit() error {
	limits := map[int]uint64{
		unix.RLIMIT_CORE: 0,
		unix.RLIMIT_CPU:  (uint64(c.Time/time.Second) + 2) * uint64(runtime.NumCPU()), // it counts all threads
	}
	if c.Memory > 0 {
		limits[unix.RLIMIT_DATA] = uint64(c.Memory)
	}
	for what, most := range limits {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("set a limit: %w", err)
		}
	}
	return nil
}
