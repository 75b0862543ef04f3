package embedded_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"agent-stop-and-go/deploy/standalone/embedded"
)

// fullDisk has the next look for room in dir find none.
func fullDisk(t *testing.T, dir string) (probe string) {
	t.Helper()
	probe = filepath.Join(dir, "temporal.db.room")
	if err := os.Symlink("/dev/full", probe); err != nil {
		t.Fatal(err)
	}
	return probe
}

func TestLookingForRoomLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	srv := start(t, embedded.Options{DataDir: dir})
	if err := srv.Room(t.Context()); err != nil {
		t.Error(err)
	}
	probe := fullDisk(t, dir)
	if err := srv.Room(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	write(t, probe, "of a process that was killed")
	if err := srv.Room(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(probe); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}
