package prompt

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/renameio/v2"
)

// Version is one state of the prompt.
type Version struct {
	Number int       `json:"version"`
	At     time.Time `json:"at"`
	By     string    `json:"by,omitempty"` // who made it: the caller, or the name that the call gives; "" if there is neither
	Why    string    `json:"why,omitempty"`
	// Operation is one of package sections, or found, edited or revert.
	Operation string `json:"operation"`
	Section   string `json:"section,omitempty"`
	Of        int    `json:"of,omitempty"` // the version that a revert restores
	Key       string `json:"key,omitempty"`
	ArgsHash  string `json:"args_sha256,omitempty"`
	// Files are all files of the prompt. They are last, so that what is before them can be read alone.
	Files map[string]string `json:"files"`
}

// Operations that are not of package sections.
const (
	OperationFound  = "found"  // the first version
	OperationEdited = "edited" // somebody has changed the files
	OperationRevert = "revert"
)

const (
	versionsDir = ".versions"
	pending     = ".pending"
)

func versionFile(n int) string { return fmt.Sprintf("%08d.json", n) }

// versions are the files in .versions.
type versions struct{ dir string }

// list returns the numbers of the versions in order, and of the one that is pending, or 0.
func (v versions) list() (numbers []int, open int, err error) {
	entries, err := os.ReadDir(v.dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, 0, err
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), pending)
		n, err := strconv.Atoi(strings.TrimSuffix(name, ".json"))
		switch {
		case err != nil || versionFile(n) != name: // not ours, as a file that was being written
		case is:
			open = n
		default:
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, open, nil
}

func (v versions) read(n int) (Version, error) { return v.readFile(versionFile(n)) }

// key returns the key of the call that has made a version, and the digest of its arguments. It reads no more
// of the file than what is before the texts.
func (v versions) key(n int) (key, args string, err error) {
	name := filepath.Join(v.dir, versionFile(n))
	f, err := os.Open(name)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	members := map[string]any{"key": &key, "args_sha256": &args}
	d := json.NewDecoder(f)
	_, err = d.Token()
	for err == nil {
		var member json.Token
		if member, err = d.Token(); err != nil {
			break
		}
		if member == "files" {
			return key, args, nil
		}
		into, ok := members[fmt.Sprint(member)]
		if !ok {
			into = new(json.RawMessage)
		}
		err = d.Decode(into)
	}
	return "", "", fmt.Errorf("read %s: %w", name, err)
}

func (v versions) readFile(name string) (out Version, err error) {
	data, err := os.ReadFile(filepath.Join(v.dir, name))
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, fmt.Errorf("read %s: %w", filepath.Join(v.dir, name), err)
	}
	return out, nil
}

// write writes a version as pending.
func (v versions) write(version Version) error {
	data, err := json.MarshalIndent(version, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(v.dir, versionFile(version.Number)+pending), data, 0o600)
}

// complete gives a version its name.
func (v versions) complete(n int) error {
	name := filepath.Join(v.dir, versionFile(n))
	if err := os.Rename(name+pending, name); err != nil {
		return err
	}
	return syncDir(v.dir)
}

func (v versions) drop(n int) error {
	return os.Remove(filepath.Join(v.dir, versionFile(n)+pending))
}

// rotate removes the oldest versions beyond most.
func (v versions) rotate(numbers []int, most int) error {
	for len(numbers) > most {
		if err := os.Remove(filepath.Join(v.dir, versionFile(numbers[0]))); err != nil {
			return err
		}
		numbers = numbers[1:]
	}
	return nil
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Diff is a unified diff of two states.
func Diff(before, after map[string]string) string {
	var names []string
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		if _, twice := before[name]; !twice {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(udiff.Unified(name, name, before[name], after[name]))
	}
	return b.String()
}
