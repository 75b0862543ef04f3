package sections

import (
	"io/fs"
	"os"
)

// Directory returns the files of a directory of this machine for [Read] and [ReadFile]. Symbolic links do not
// lead out of it.
func Directory(name string) fs.FS { return directory(name) }

// directory opens the directory for each file, so that nothing has to be closed.
type directory string

// Open implements fs.FS.
func (d directory) Open(name string) (fs.File, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.FS().Open(name)
}

// Stat implements fs.StatFS.
func (d directory) Stat(name string) (fs.FileInfo, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return fs.Stat(root.FS(), name)
}
