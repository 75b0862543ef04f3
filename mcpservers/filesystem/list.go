package filesystem

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"
)

// Types of entries, as returned to clients.
const (
	typeFile     = "file"
	typeFolder   = "directory"
	typeLink     = "symlink"
	typeOther    = "other" // FIFO, socket, device
	typeExternal = "external"
)

type roots struct {
	Roots []rootInfo `json:"roots"`
}

type rootInfo struct {
	AllowedTools []string `json:"allowed_tools"`
	Name         string   `json:"name"`
}

func (s *Server) listRoots(context.Context, call) (any, error) {
	list := make([]rootInfo, 0, len(s.roots))
	for name, root := range s.roots {
		list = append(list, rootInfo{AllowedTools: append([]string{}, root.allowed...), Name: name})
	}
	slices.SortFunc(list, func(a, b rootInfo) int { return cmp.Compare(a.Name, b.Name) })
	return roots{list}, nil
}

type listing struct {
	Count     int     `json:"count"`
	Entries   []entry `json:"entries"`
	Truncated bool    `json:"truncated,omitempty"` // there are more entries than the configured limit
}

type entry struct {
	ModifiedAt string `json:"modified_at"`
	Name       string `json:"name"`
	Size       int64  `json:"size"`
	TargetType string `json:"target_type,omitempty"`
	Type       string `json:"type"`
}

func listFolder(ctx context.Context, c call) (any, error) {
	at, err := c.resolvedLocation("root", "path", "")
	if err != nil {
		return nil, err
	}
	dir, err := at.openFolder()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := readFolder(dir, ".")
	if err != nil {
		return nil, describe(err, "path not found", at.given)
	}
	list := listing{Entries: []entry{}}
	if list.Truncated = len(found) > c.config.MaxResults; list.Truncated {
		found = found[:c.config.MaxResults]
	}
	for _, one := range found {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if entry, ok := at.entry(dir, one.Name()); ok {
			list.Entries = append(list.Entries, entry)
		}
	}
	list.Count = len(list.Entries)
	return list, nil
}

func (l location) openFolder() (*os.Root, error) {
	info, err := l.root.dir.Lstat(l.rel)
	if err == nil && !info.IsDir() {
		err = errNotFolder
	}
	if err != nil {
		return nil, describe(err, "path not found", l.given)
	}
	dir, err := openFolder(l.root.dir, l.rel)
	return dir, describe(err, "path not found", l.given)
}

// readFolder returns the entries of a folder sorted by name, without temporary files. Like
// openFolder it never blocks.
func readFolder(dir *os.Root, name string) ([]fs.DirEntry, error) {
	file, err := dir.Open(name + "/.")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := file.ReadDir(-1)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return isTemp(e.Name()) })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// entry describes one name in a folder. ok is false if it no longer exists.
func (l location) entry(dir *os.Root, name string) (e entry, ok bool) {
	info, err := dir.Lstat(name)
	if err != nil {
		return e, false
	}
	e = entry{ModifiedAt: formatTime(info), Name: name, Size: info.Size(), Type: typeOf(info.Mode())}
	if e.Type == typeLink {
		e.TargetType = l.root.targetType(path.Join(l.rel, name))
	}
	return e, true
}

// targetType returns the type of a link's target, "" if the target does not exist.
func (r *root) targetType(link string) string {
	target, err := r.resolve(link)
	if errors.Is(err, errOutside) {
		return typeExternal
	}
	if err != nil {
		return ""
	}
	info, err := r.dir.Lstat(target)
	if err != nil {
		return ""
	}
	return typeOf(info.Mode())
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return typeFile
	case mode.IsDir():
		return typeFolder
	case mode.Type() == fs.ModeSymlink:
		return typeLink
	}
	return typeOther
}

func formatTime(info fs.FileInfo) string { return info.ModTime().UTC().Format(time.RFC3339) }
