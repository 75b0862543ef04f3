package filesystem

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links one path may go through, as in Linux.
const maxLinks = 40

// resolve follows every link in a clean path, so that it can be told what a
// path means before anything is done to it. A path, or a link in it, that leads
// out of the root gives errOutside. What does not exist is taken as it is
// written. Between resolving and using, os.Root is what keeps the root closed.
func (r *root) resolve(rel string) (string, error) {
	done, rest, links := ".", strings.Split(rel, "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if done == "." {
				return "", errOutside
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		if strings.Count(next, "/") >= maxParts {
			return "", errTooDeep
		}
		info, err := r.dir.Lstat(next)
		if err != nil && !isMissing(err) {
			return "", err
		}
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		target, absolute, err := r.follow(next)
		if err != nil {
			return "", err
		}
		if absolute {
			done = "."
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return done, nil
}

// follow reads a link. An absolute one that leads into the root is returned as
// relative to the root.
func (r *root) follow(link string) (target string, absolute bool, err error) {
	target, err = r.dir.Readlink(link)
	if err != nil || !filepath.IsAbs(target) {
		return filepath.ToSlash(target), false, err
	}
	for _, place := range r.places {
		if inside, err := filepath.Rel(place, target); err == nil && filepath.IsLocal(inside) {
			return filepath.ToSlash(inside), true, nil
		}
	}
	return "", true, errOutside
}

// resolveFolder resolves the folder that holds a path but not its last part:
// what is done to the result is done to a link itself.
func (r *root) resolveFolder(rel string) (string, error) {
	if rel == "." {
		return rel, nil
	}
	folder, err := r.resolve(path.Dir(rel))
	return path.Join(folder, path.Base(rel)), err
}

// inside reports whether inner is outer or below it, as places on this machine.
func inside(inner, outer string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && filepath.IsLocal(rel)
}
