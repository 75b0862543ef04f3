package filesystem

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is the maximum number of links in the resolution of one path, as in Linux.
const maxLinks = 40

// resolve follows every link in a clean path, so that the path can be checked before it is
// used. A path or link that leads out of the root gives errOutside. Missing parts are kept as
// written. Between resolving and using a path, os.Root prevents leaving the root.
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

// follow reads a link. The target of an absolute link into the root is returned relative to the
// root.
func (r *root) follow(link string) (target string, absolute bool, err error) {
	target, err = r.dir.Readlink(link)
	if err != nil || !filepath.IsAbs(target) {
		return filepath.ToSlash(target), false, err
	}
	for _, place := range r.hostPaths {
		if inside, err := filepath.Rel(place, target); err == nil && filepath.IsLocal(inside) {
			return filepath.ToSlash(inside), true, nil
		}
	}
	return "", true, errOutside
}

// resolveFolder resolves a path except its last part. Operations on the result affect a link
// itself.
func (r *root) resolveFolder(rel string) (string, error) {
	if rel == "." {
		return rel, nil
	}
	folder, err := r.resolve(path.Dir(rel))
	return path.Join(folder, path.Base(rel)), err
}

// isInside reports whether inner is outer or below it. Both are paths on this machine.
func isInside(inner, outer string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && filepath.IsLocal(rel)
}
