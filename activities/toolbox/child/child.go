// Package child has what a tool server that runs as a child process gets: its environment, the
// path of its command, and a log for its standard error.
package child

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// inherited lists the variables that a child gets of ours. Others are not passed on, so a new
// secret is excluded without a change.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
	"TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// Environment returns the variables of a child: some of ours, and more.
func Environment(more map[string]string) []string {
	env := map[string]string{}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	maps.Copy(env, more)
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// Find returns the path of a command: in the directory of our own executable, where the servers that ship
// with the project are, then in PATH. A command with a slash is a path already.
func Find(command string) (string, error) {
	if command == "" {
		return "", fmt.Errorf("neither url nor command is set")
	}
	if strings.Contains(command, "/") {
		return command, nil
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), command)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return beside, nil
		}
	}
	path, err := exec.LookPath(command)
	if err != nil {
		return "", fmt.Errorf("find command %q beside this program or in PATH: %w", command, exec.ErrNotFound)
	}
	return path, nil
}
