package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Errors of the tools about a path. describe adds the path as the caller wrote it.
var (
	errNullByte  = errors.New("path contains null bytes")
	errTooDeep   = fmt.Errorf("path has more than %d parts", maxParts)
	errOutside   = errors.New("path resolves outside root boundary")
	errFolder    = errors.New("path is a directory, not a file")
	errNotFolder = errors.New("path is not a directory")
	errSpecial   = errors.New("path is not a regular file (a FIFO, socket or device)")
)

// describe adds the path as the caller wrote it to an error, and never a path of this machine.
// missing is the text for a missing file. Other errors are unchanged.
func describe(err error, missing, given string) error {
	switch {
	case err == nil:
		return nil
	case isMissing(err):
		return fmt.Errorf("%s: %s", missing, given)
	case errors.Is(err, errOutside), isRootEscape(err):
		return errOutside
	case errors.Is(err, syscall.EISDIR):
		err = errFolder
	}
	for _, ours := range []error{errFolder, errNotFolder, errSpecial} {
		if errors.Is(err, ours) {
			return fmt.Errorf("%v: %s", ours, given) // not %w, so that a second describe does not add the path again
		}
	}
	if plain := stripPath(err); plain != err || errors.As(err, new(syscall.Errno)) {
		return fmt.Errorf("%v: %s", plain, given)
	}
	return err
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// stripPath removes the system call and the path that package os adds to an error.
func stripPath(err error) error {
	var onPath *fs.PathError
	var onLink *os.LinkError
	var onCall *os.SyscallError
	switch {
	case errors.As(err, &onPath):
		return stripPath(onPath.Err)
	case errors.As(err, &onLink):
		return stripPath(onLink.Err)
	case errors.As(err, &onCall):
		return stripPath(onCall.Err)
	}
	return err
}

// isRootEscape reports whether an error is os.Root's refusal to leave the root, which has no
// exported value.
func isRootEscape(err error) bool {
	var onPath *fs.PathError
	var onLink *os.LinkError
	return (errors.As(err, &onPath) || errors.As(err, &onLink)) && strings.HasSuffix(err.Error(), "path escapes from parent")
}
