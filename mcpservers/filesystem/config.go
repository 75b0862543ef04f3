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

// Config says where the server listens, which folders it offers and how much
// one call may ask for. Sizes are in bytes.
type Config struct {
	hosting.Settings `yaml:",inline"` // host, port, transport, …

	// MaxFullReadSize is the largest file that is read without offset or limit,
	// and the largest that is given out as an MCP resource.
	MaxFullReadSize int64 `yaml:"max_full_read_size"`
	// MaxReadSize is the most that one call returns of the text of files. What
	// read_file returns may be twice as long in JSON.
	MaxReadSize int64 `yaml:"max_read_size"`
	// MaxWriteSize is the largest content, patch, and file to patch.
	MaxWriteSize int64 `yaml:"max_write_size"`
	// MaxCopySize is the most that one copy, or one move to another file system or
	// root, writes. Holes in files count: copies have none.
	MaxCopySize int64 `yaml:"max_copy_size"`
	// MaxLineSize is how much of a line grep looks at and returns, 8192 or more.
	MaxLineSize int `yaml:"max_line_size"`
	// MaxResults bounds the max_results that a search may ask for, and the
	// entries of a listed folder.
	MaxResults int `yaml:"max_results"`
	// MaxTimeoutSeconds bounds every call, and the timeout_seconds that a search
	// may ask for.
	MaxTimeoutSeconds int `yaml:"max_timeout_seconds"`

	Roots []RootConfig `yaml:"roots"`
}

// RootConfig is one folder and the tools that may be used in it. An empty
// AllowedTools allows nothing, "*" everything.
type RootConfig struct {
	Name         string   `yaml:"name"`
	Path         string   `yaml:"path"`
	AllowedTools []string `yaml:"allowed_tools"`
}

// DefaultConfig listens on this machine only and has no roots, which a server
// cannot start without.
func DefaultConfig() Config {
	return Config{
		Settings:        hosting.DefaultSettings(8091),
		MaxFullReadSize: 1 << 20, MaxReadSize: 10 << 20, MaxWriteSize: 10 << 20, MaxCopySize: 1 << 30,
		MaxLineSize: 64 << 10, MaxResults: 10_000, MaxTimeoutSeconds: 300,
	}
}

// LoadConfig reads a YAML file over the defaults. A file with mistakes gives
// one error that names them all. Relative paths of roots are relative to the
// directory the program was started in.
func LoadConfig(path string) (Config, error) {
	return hosting.LoadYAML(path, DefaultConfig(), keys)
}

// ErrNoRoots is what Validate reports for a configuration without roots.
var ErrNoRoots = errors.New("no roots configured")

// maxSize is the most that may be held in memory: 1 GiB.
const maxSize = 1 << 30

// Validate reports every value no server can start with.
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

// keys are the keys of the file by the Go type that yaml names.
var keys = map[string]string{
	"filesystem.Config":     strings.Join(hosting.Keys(), ", ") + ", max_full_read_size, max_read_size, max_write_size, max_copy_size, max_line_size, max_results, max_timeout_seconds, roots",
	"filesystem.RootConfig": "name, path, allowed_tools",
}
