package prompt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/mcpservers/prompt/sections"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// Limits bound what a store keeps.
type Limits struct {
	Versions int // 0: all
}

// DefaultVersions is how many versions an mcp-prompt keeps by default.
const DefaultVersions = 500

// Store is a directory with a prompt. Its methods can be called concurrently, also by several processes.
type Store struct {
	dir      string
	limits   Limits
	lock     *flock.Flock
	mu       sync.Mutex // held with lock
	versions versions
	now      func() time.Time
}

// lockFile is in the directory.
const lockFile = ".lock"

// State is a prompt at one time.
type State struct {
	sections.Prompt
	Version Version
}

// Create makes the directory if it is missing, with text as its prompt if it has none.
func Create(dir, text string) error {
	for _, name := range []string{sections.Index, sections.HiddenIndex, versionsDir} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the prompt: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, sections.Index), []byte(text), 0o600); err != nil {
		return fmt.Errorf("make the prompt: %w", err)
	}
	return nil
}

// Open opens a directory and reads the prompt, which must have no faults. It must belong to the user who runs
// the process. Nobody needs to close it.
func Open(ctx context.Context, dir string, limits Limits) (*Store, error) {
	s := &Store{
		dir: dir, limits: limits, lock: flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600)), now: time.Now,
		versions: versions{dir: filepath.Join(dir, versionsDir)},
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the directory %s is missing: make it, with the beginning of the prompt in %s", dir, sections.Index)
	}
	if err := owned(dir); err != nil {
		return nil, err
	}
	_, err := s.Read(ctx)
	return s, err
}

// Read returns the prompt of now.
func (s *Store) Read(ctx context.Context) (now State, err error) {
	err = s.locked(ctx, func(st State) error { now = st; return nil })
	return now, err
}

// locked runs do with the lock, the prompt of now, and nothing interrupted.
func (s *Store) locked(ctx context.Context, do func(State) error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok, err := s.lock.TryLockContext(ctx, 5*time.Millisecond); err != nil || !ok {
		return fmt.Errorf("lock %s: %w", s.dir, cmp.Or(err, errors.New("it is in use")))
	}
	defer func() { err = errors.Join(err, s.lock.Unlock()) }()
	if err := s.recover(); err != nil {
		return err
	}
	now, err := s.sync()
	if err != nil {
		return err
	}
	return do(now)
}

// recover completes a change that was interrupted.
func (s *Store) recover() error {
	_, open, err := s.versions.list()
	if err != nil || open == 0 {
		return err
	}
	v, err := s.versions.readFile(versionFile(open) + pending)
	if err != nil {
		return err
	}
	before, err := s.newest()
	if err != nil {
		return err
	}
	if _, err := s.apply(before, v); err != nil {
		return incomplete(v, err)
	}
	return nil
}

// sync reads the prompt. If its files are not those of the newest version, they become one.
func (s *Store) sync() (State, error) {
	p, faults := sections.Read(sections.Directory(s.dir))
	if len(faults) > 0 {
		return State{}, fmt.Errorf("the prompt in %s cannot be read:\n%w", s.dir, faults)
	}
	newest, err := s.newest()
	if err != nil {
		return State{}, err
	}
	if newest.Number > 0 && maps.Equal(p.Files, newest.Files) {
		return State{p, newest}, nil
	}
	v := Version{Number: newest.Number + 1, Operation: OperationEdited, Files: p.Files}
	if v.Number == 1 {
		v.Operation = OperationFound
	}
	v, err = s.record(newest, v)
	return State{p, v}, err
}

func (s *Store) newest() (Version, error) {
	numbers, _, err := s.versions.list()
	if err != nil || len(numbers) == 0 {
		return Version{}, err
	}
	return s.versions.read(numbers[len(numbers)-1])
}

// record writes a version, and the files that it changes. If the first of them cannot be written, nothing
// has changed.
func (s *Store) record(before, v Version) (Version, error) {
	v.At = s.now().UTC().Truncate(time.Millisecond)
	if err := s.versions.write(v); err != nil {
		return v, fmt.Errorf("write version %d: %w", v.Number, err)
	}
	switch touched, err := s.apply(before, v); {
	case err != nil && !touched:
		return v, errors.Join(fmt.Errorf("nothing is changed: %w", err), s.versions.drop(v.Number))
	case err != nil:
		return v, incomplete(v, err)
	}
	numbers, _, err := s.versions.list()
	if err == nil && s.limits.Versions > 0 {
		err = s.versions.rotate(numbers, s.limits.Versions)
	}
	return v, err
}

func incomplete(v Version, err error) error {
	return fmt.Errorf("version %d is not complete, and is completed by the next call: %w", v.Number, err)
}

// apply writes the files that a pending version changes, and gives it its name. A file that somebody has edited
// since stays so, and is a version after this one, as if it was saved a moment later. With an error, touched
// reports whether something of the version may be written already.
func (s *Store) apply(before, v Version) (touched bool, err error) {
	if v.Operation == OperationFound || v.Operation == OperationEdited { // these are the files
		return true, s.versions.complete(v.Number)
	}
	for _, name := range slices.Sorted(maps.Keys(v.Files)) {
		old, had := before.Files[name]
		if had && old == v.Files[name] {
			continue
		}
		now, err := sections.ReadFile(sections.Directory(s.dir), name)
		if err == nil && (now == v.Files[name] || had && now != old) {
			continue
		}
		err = renameio.WriteFile(filepath.Join(s.dir, name), []byte(v.Files[name]), 0o600, renameio.WithExistingPermissions())
		if err != nil {
			return touched, err
		}
		touched = true
	}
	return true, s.versions.complete(v.Number)
}

// Base identifies the whole prompt as the model gets it.
func (s State) Base() string { return sections.Digest(s.Assemble()) }
