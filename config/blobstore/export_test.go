package blobstore

import "os"

// OnSync has f called before a file or folder of the store is synced.
func (s *Store) OnSync(f func(name string) error) {
	s.sync = func(file *os.File) error {
		if err := f(file.Name()); err != nil {
			return err
		}
		return file.Sync()
	}
}
