package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

const (
	manifestFile = "manifest.json"
	manifestV1   = 1
	unfinished   = ".unfinished"
	nameLayout   = "2006-01-02T15-04-05.000Z"
)

// Manifest describes a copy.
type Manifest struct {
	Version int `json:"version"`
	// Agent is the version of the program that made the copy.
	Agent string `json:"agent"`
	// At is the moment of the databases.
	At time.Time `json:"at"`
	// Databases are files of the copy's own folder. Their paths are relative to the data directory.
	Databases []File `json:"databases"`
	// Files are relative to the data directory, Values to the folder of the blob store.
	Files  []File `json:"files"`
	Values []File `json:"values"`
	// Elsewhere is the blob store, if that is not a folder. Its values are not in the copy.
	Elsewhere string `json:"elsewhere,omitempty"`
}

// File is a file of a copy.
type File struct {
	Path   string `json:"path"` // with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Copy is a finished copy.
type Copy struct {
	Dir string // its own folder
	Manifest
}

// pool returns the folder of the shared contents.
func (c Copy) pool() pool { return pool(filepath.Join(filepath.Dir(c.Dir), poolFolder)) }

var copyName = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$`)

// ErrNone means that a folder has no finished copy.
var ErrNone = errors.New("there is no finished backup")

// Find returns a copy: the one in dir itself, the one with the name, or the newest one below dir.
func Find(dir, name string) (Copy, error) {
	if name != "" {
		return read(filepath.Join(dir, name))
	}
	if copyName.MatchString(filepath.Base(dir)) {
		return read(dir)
	}
	names, err := list(dir)
	if err != nil {
		return Copy{}, err
	}
	if len(names) == 0 {
		return Copy{}, fmt.Errorf("%w in %s", ErrNone, dir)
	}
	return read(filepath.Join(dir, names[len(names)-1]))
}

// list returns the names of the finished copies, the oldest first.
func list(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() && copyName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func read(dir string) (c Copy, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return c, err
	}
	c.Dir = dir
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%w in %s", ErrNone, dir)
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c.Manifest); err != nil {
		return c, fmt.Errorf("read %s: %w", filepath.Join(dir, manifestFile), err)
	}
	if c.Version != manifestV1 {
		return c, fmt.Errorf("%s has version %d, this program reads version %d: restore it with the version of agent that made it, %s",
			filepath.Join(dir, manifestFile), c.Version, manifestV1, c.Agent)
	}
	for _, f := range slices.Concat(c.Databases, c.Files, c.Values) {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || !sum.MatchString(f.SHA256) {
			return c, fmt.Errorf("%s is damaged: it has the file %q", filepath.Join(dir, manifestFile), f.Path)
		}
	}
	return c, nil
}

func (m Manifest) write(dir string) error {
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, manifestFile), b)
}
