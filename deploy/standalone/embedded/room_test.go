package embedded_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

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

// The server itself would try to write until the time of its start is over.
func TestAServerDoesNotStartOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	fullDisk(t, dir)
	began := time.Now()
	_, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	wantError(t, err, "look for room", "data directory "+dir, "no space left on device")
	if took := time.Since(began); took > settled/2 {
		t.Errorf("it took %s", took)
	}
	start(t, embedded.Options{DataDir: dir}) // there is room again
}

// settled is how long a server may take to answer.
const settled = 30 * time.Second
