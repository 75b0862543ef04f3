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

// Watch reloads when something in paths changes, until ctx ends. paths are files and folders.
func (s *Server) Watch(ctx context.Context, paths []string) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer watcher.Close()
	for _, path := range paths {
		if err := follow(watcher, path); err != nil {
			return fmt.Errorf("watch %s: %w", path, err)
		}
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
			}
		}
	}
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
