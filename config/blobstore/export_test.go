package blobstore

import (
	"os"
	"time"
)

// OnSync has f called before a file or folder of the store is synced.
func (s *Store) OnSync(f func(name string) error) {
	s.sync = func(file *os.File) error {
		if err := f(file.Name()); err != nil {
			return err
		}
		return file.Sync()
	}
}

// At sets the clock of the store.
func (s *Store) At(now func() time.Time) { s.now = now }

// Forget empties the memory of the store, as a new process has it.
func (s *Store) Forget() {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	clear(s.cache.values)
	s.cache.order.Init()
	s.cache.size = 0
}
