package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is what the processes of a server have used, and use.
type Usage struct {
	CPU      time.Duration // in user and kernel mode
	Resident int64         // bytes of memory; pages that processes share count for each
}

// Usage returns the usage of all processes in the server's group. The kernel counts time in
// hundredths of a second.
func (s *Server) Usage() (sum Usage, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return sum, err
	}
	found := false
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		p, err := parseStat(string(data))
		if err != nil {
			return sum, fmt.Errorf("%s: %w", file, err)
		}
		if p.group == s.cmd.Process.Pid {
			found = true
			sum.CPU += p.CPU
			sum.Resident += p.Resident
		}
	}
	if !found {
		return sum, fmt.Errorf("%s has no process", s.peer.Name)
	}
	return sum, nil
}

// process is a process as the kernel describes it.
type process struct {
	group int
	Usage
}

// The fields of /proc/PID/stat that follow the program's name, by number.
const (
	fieldGroup         = 2
	fieldFirstTime     = 11 // of the process in user and kernel mode, of its ended children likewise
	fieldLastTime      = 14
	fieldResidentPages = 21
)

// parseStat reads /proc/PID/stat.
func parseStat(text string) (p process, err error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the program's name ends there
	if len(fields) <= fieldResidentPages {
		return p, fmt.Errorf("unexpected %q", text)
	}
	numbers := make([]int64, fieldResidentPages+1)
	for i := 1; i < len(numbers); i++ { // the first one is a letter
		if numbers[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return p, err
		}
	}
	p.group = int(numbers[fieldGroup])
	for _, ticks := range numbers[fieldFirstTime : fieldLastTime+1] {
		p.CPU += time.Duration(ticks) * 10 * time.Millisecond
	}
	p.Resident = numbers[fieldResidentPages] * int64(os.Getpagesize())
	return p, nil
}
