package filesystem

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

// Config has the address of the server, its folders and the limits of one call. Sizes are in
// bytes.
type Config struct {
	hosting.Settings `yaml:",inline"` // host, port, transport, …

	// MaxFullReadSize is the size of the largest file that can be read without offset or limit,
	// or as an MCP resource.
	MaxFullReadSize int64 `yaml:"max_full_read_size"`
	// MaxReadSize bounds the text of files in one result. The result of read_file may be twice
	// as long in JSON.
	MaxReadSize int64 `yaml:"max_read_size"`
	// MaxWriteSize bounds the content, the patch, and the file to patch.
	MaxWriteSize int64 `yaml:"max_write_size"`
	// MaxCopySize bounds the bytes written by one copy, or by one move to another file system
	// or root. Holes in sparse files count, because the copy has none.
	MaxCopySize int64 `yaml:"max_copy_size"`
	// MaxLineSize is the length up to which grep searches and returns a line, at least 8192.
	MaxLineSize int `yaml:"max_line_size"`
	// MaxResults bounds the argument max_results of a search, and the entries of a listed
	// folder.
	MaxResults int `yaml:"max_results"`
	// MaxTimeoutSeconds bounds the duration of every call, and the argument timeout_seconds of
	// a search.
	MaxTimeoutSeconds int `yaml:"max_timeout_seconds"`

	Roots []RootConfig `yaml:"roots"`
}

// RootConfig is one folder and the tools that are allowed in it. An empty AllowedTools allows
// no tool, "*" allows all.
type RootConfig struct {
	Name         string   `yaml:"name"`
	Path         string   `yaml:"path"`
	AllowedTools []string `yaml:"allowed_tools"`
}

// DefaultConfig returns settings for a server on loopback. It has no roots, which a server
// needs.
func DefaultConfig() Config {
	return Config{
		Settings:        hosting.DefaultSettings(8091),
		MaxFullReadSize: 1 << 20, MaxReadSize: 10 << 20, MaxWriteSize: 10 << 20, MaxCopySize: 1 << 30,
		MaxLineSize: 64 << 10, MaxResults: 10_000, MaxTimeoutSeconds: 300,
	}
}

// LoadConfig reads a YAML file over the defaults. One error reports all mistakes of the file.
// Relative paths of roots are relative to the working directory.
func LoadConfig(path string) (Config, error) {
	return hosting.LoadYAML(path, DefaultConfig(), keys)
}

// ErrNoRoots is returned by Validate for a configuration without roots.
var ErrNoRoots = errors.New("no roots configured")

// maxSize is the largest value of a size that is held in memory: 1 GiB.
const maxSize = 1 << 30

// Validate reports every invalid value.
func (c Config) Validate() error {
	var errs []error
	if err := c.Settings.Validate(); err != nil {
		errs = append(errs, err)
	}
	for _, limit := range []struct {
		key                string
		value, least, most int64
	}{
		{"max_full_read_size", c.MaxFullReadSize, 1, maxSize}, {"max_read_size", c.MaxReadSize, 1, maxSize},
		{"max_write_size", c.MaxWriteSize, 1, maxSize}, {"max_copy_size", c.MaxCopySize, 1, 1 << 60},
		{"max_line_size", int64(c.MaxLineSize), sniffLength, maxSize}, {"max_results", int64(c.MaxResults), 1, 1 << 30},
		{"max_timeout_seconds", int64(c.MaxTimeoutSeconds), 1, 1 << 30},
	} {
		if limit.value < limit.least {
			errs = append(errs, fmt.Errorf("%s is %d: it must be at least %d", limit.key, limit.value, limit.least))
		}
		if limit.value > limit.most {
			errs = append(errs, fmt.Errorf("%s is %d: it must be at most %d", limit.key, limit.value, limit.most))
		}
	}
	return errors.Join(append(errs, c.validateRoots()...)...)
}

func (c Config) validateRoots() (errs []error) {
	if len(c.Roots) == 0 {
		return []error{ErrNoRoots}
	}
	seen := map[string]bool{}
	for i, root := range c.Roots {
		if root.Name == "" {
			errs = append(errs, fmt.Errorf("roots[%d]: name is required", i))
		} else if seen[root.Name] {
			errs = append(errs, fmt.Errorf("duplicate root name: %s", root.Name))
		}
		seen[root.Name] = true
		at := fmt.Sprintf("roots[%d] %q: ", i, root.Name)
		if err := checkFolder(root.Path); err != nil {
			errs = append(errs, fmt.Errorf("%s%w", at, err))
		}
		for _, tool := range root.AllowedTools {
			if tool != "*" && !slices.Contains(gatedTools, tool) {
				errs = append(errs, fmt.Errorf("%sunknown tool %q in allowed_tools: use \"*\" or some of %s", at, tool, strings.Join(gatedTools, ", ")))
			}
		}
	}
	return errs
}

func checkFolder(path string) error {
	if path == "" {
		return errors.New("path is required")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("path does not exist: %s", path)
	case err != nil:
		return fmt.Errorf("path: %w", err)
	case !info.IsDir():
		return fmt.Errorf("path is not a directory: %s", path)
	}
	return nil
}

func (c Config) timeout() time.Duration { return time.Duration(c.MaxTimeoutSeconds) * time.Second }

// keys are the keys of the file, by the Go type in yaml's errors.
var keys = map[string]string{
	"filesystem.Config":     strings.Join(hosting.Keys(), ", ") + ", max_full_read_size, max_read_size, max_write_size, max_copy_size, max_line_size, max_results, max_timeout_seconds, roots",
	"filesystem.RootConfig": "name, path, allowed_tools",
}
