package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// owned refuses a directory of another user: files of one user that are made here lock out the other. Who has
// made the lock counts, and before there is one the owner of the directory, which may be the superuser: volumes
// of containers are, and others write to them by their group.
func owned(dir string) error {
	name := filepath.Join(dir, lockFile)
	info, err := os.Stat(name)
	if fresh := errors.Is(err, fs.ErrNotExist); fresh {
		name = dir
		info, err = os.Stat(dir)
		if owner, ok := ownerOf(info); err == nil && ok && owner == 0 {
			return nil
		}
	}
	if err != nil {
		return err
	}
	owner, ok := ownerOf(info)
	if me := os.Geteuid(); ok && owner != me {
		return fmt.Errorf("%s belongs to the user with the number %d, and this process to %d, whose files would lock the other out: run it as the owner (sudo -u '#%d' …), or give all of %s to one user (chown -R)", name, owner, me, owner, dir)
	}
	return nil
}

func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	if info == nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
