package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	roomFile = dbFile + ".room"
	// roomToGoOn is some pages of a database. roomToStart is what a server writes before it
	// answers.
	roomToGoOn  = 64 << 10
	roomToStart = 1 << 20
)

// Room returns an error if the disk of the database is full. It writes a small file, so it is
// too expensive for every request.
func (s *Server) Room(context.Context) error { return room(s.dir, roomToGoOn) }

// room writes random data, which no file system can compress.
func room(dir string, size int) (err error) {
	path := filepath.Join(dir, roomFile)
	data := make([]byte, size)
	_, _ = rand.Read(data) // never fails, see crypto/rand.Read
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(data)
		if err == nil {
			err = file.Sync()
		}
		err = errors.Join(err, file.Close())
		if removed := os.Remove(path); !errors.Is(removed, fs.ErrNotExist) { // a concurrent check removed it
			err = errors.Join(err, removed)
		}
	}
	if err != nil {
		return fmt.Errorf("look for room for %d KiB in data directory %s: %w", size>>10, dir, err)
	}
	return nil
}
