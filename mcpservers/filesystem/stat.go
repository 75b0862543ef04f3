package filesystem

import (
	"context"
	"fmt"
	"io/fs"
	"os/user"
	"path"
	"strconv"
	"syscall"
)

type stat struct {
	IsDirectory bool   `json:"is_directory"`
	IsSymlink   bool   `json:"is_symlink"` // always false: links are followed
	ModifiedAt  string `json:"modified_at"`
	Name        string `json:"name"`
	Path        string `json:"path"`
	Size        int64  `json:"size"`
}

func statFile(_ context.Context, c call) (any, error) {
	at, info, err := c.info()
	if err != nil {
		return nil, err
	}
	return stat{IsDirectory: info.IsDir(), ModifiedAt: formatTime(info), Name: path.Base(at.rel), Path: at.given, Size: info.Size()}, nil
}

// info returns the file information of the path of a call.
func (c call) info() (location, fs.FileInfo, error) {
	at, err := c.resolvedLocation("root", "path", "")
	if err != nil {
		return at, nil, err
	}
	info, err := at.root.dir.Lstat(at.rel)
	return at, info, describe(err, "not found", at.given)
}

type permissions struct {
	Group      string `json:"group"`
	Mode       string `json:"mode"`
	ModeString string `json:"mode_string"`
	Owner      string `json:"owner"`
	Path       string `json:"path"`
}

func permissionsFile(_ context.Context, c call) (any, error) {
	at, info, err := c.info()
	if err != nil {
		return nil, err
	}
	owner, group := owners(info)
	return permissions{
		Group: group, Mode: fmt.Sprintf("%04o", info.Mode().Perm()), ModeString: info.Mode().String(),
		Owner: owner, Path: at.given,
	}, nil
}

// owners returns the names of owner and group, or their numbers if they have no names.
func owners(info fs.FileInfo) (owner, group string) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	owner, group = strconv.Itoa(int(sys.Uid)), strconv.Itoa(int(sys.Gid))
	if found, err := user.LookupId(owner); err == nil {
		owner = found.Username
	}
	if found, err := user.LookupGroupId(group); err == nil {
		group = found.Name
	}
	return owner, group
}
