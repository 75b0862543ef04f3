package commands

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long files must be unchanged before they are read, because editors write in steps.
const settle = 100 * time.Millisecond

// Watch reloads when something in paths changes, until ctx ends. paths are files and folders; after each
// reload it is asked for them again.
func (s *Server) Watch(ctx context.Context, paths func() ([]string, error)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer watcher.Close()
	if err := followAll(watcher, paths); err != nil {
		return err
	}
	if err := s.Reload(); err != nil { // what changed before the watch began
		s.options.Log.Warn("the old definitions stay", "error", err)
	}
	timer := time.NewTimer(0)
	<-timer.C
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Has(fsnotify.Create) {
				_ = follow(watcher, event.Name) // a new folder; what is gone again needs no watch
			}
			timer.Reset(settle)
		case err := <-watcher.Errors:
			s.options.Log.Warn("watching files", "error", err)
			timer.Reset(settle)
		case <-timer.C:
			if err := s.Reload(); err != nil {
				s.options.Log.Error("the old definitions stay", "error", err)
			} else if err := followAll(watcher, paths); err != nil {
				s.options.Log.Error("not all changes are noticed", "error", err)
			}
		}
	}
}

func followAll(watcher *fsnotify.Watcher, paths func() ([]string, error)) error {
	all, err := paths()
	if err != nil {
		return err
	}
	for _, path := range all {
		if err := follow(watcher, path); err != nil {
			return fmt.Errorf("watch %s: %w", path, err)
		}
	}
	return nil
}

// follow watches a folder with all below it, or the folder of a file, because editors replace files.
func follow(watcher *fsnotify.Watcher, path string) error {
	return filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return watcher.Add(at)
		case at == path:
			return watcher.Add(filepath.Dir(at))
		}
		return nil
	})
}
