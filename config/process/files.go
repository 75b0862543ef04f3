package process

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// WithFiles returns an environment in which NAME_FILE names a file with the value of NAME, as
// containers get their secrets. NAME itself comes first. A line break at the end of the file is
// dropped. What is wrong with a file is printed, once, and its variable counts as not set.
func WithFiles(getenv func(string) string, stderr io.Writer) func(string) string {
	var said sync.Map
	return func(name string) string {
		value := getenv(name)
		file := getenv(name + "_FILE")
		if value != "" || file == "" {
			return value
		}
		text, err := os.ReadFile(file)
		if err != nil {
			if _, before := said.LoadOrStore(name, true); !before {
				fmt.Fprintf(stderr, "%s_FILE: %v\n", name, err)
			}
			return ""
		}
		return strings.TrimRight(string(text), "\r\n")
	}
}
