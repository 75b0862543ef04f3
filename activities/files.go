package activities

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// Files writes a JSON file of every conversation to a folder, for backups, scripts and people.
type Files struct {
	Dir   string
	Blobs transcript.Store
	// Feed gets an event for every exported conversation; it may be nil.
	Feed Feed

	// locks serialize exports of one conversation. Two conversations may share a lock.
	locks [64]sync.Mutex
}

// Export writes conversation_<id>.json atomically: to a temporary file, synced, renamed. A file
// with a later version stays.
func (f *Files) Export(ctx context.Context, in contract.ExportInput) (contract.ExportResult, error) {
	v := in.Conversation
	if !contract.IsUUID(v.ID) {
		return contract.ExportResult{}, fail(contract.KindInvalid, "not a conversation id", 0)
	}
	defer f.lock(v.ID)()
	publish(f.Feed, contract.Event{ConversationID: v.ID, Settled: &v, Tree: in.Tree})
	path := filepath.Join(f.Dir, contract.ConversationFile(v.ID))
	if version, err := versionOf(path); err == nil && version > v.Version {
		return contract.ExportResult{Skipped: true}, nil
	}
	pieces, err := document.Encode(ctx, f.Blobs, v)
	if err != nil {
		return contract.ExportResult{}, fail(contract.KindBlob, err.Error(), 0)
	}
	size, err := replace(path, pieces)
	if err != nil {
		return contract.ExportResult{}, fail(contract.KindExport, err.Error(), 0)
	}
	return contract.ExportResult{Bytes: size}, nil
}

func (f *Files) lock(id string) (unlock func()) {
	h := fnv.New32a()
	h.Write([]byte(id))
	mu := &f.locks[h.Sum32()%uint32(len(f.locks))]
	mu.Lock()
	return mu.Unlock
}

// replace writes the pieces of a file to path atomically, even if power fails.
func replace(path string, pieces [][]byte) (size int64, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("make the data directory: %w", err)
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(tmp.Name()))
		}
	}()
	if size, err = writeAll(tmp, pieces); err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return 0, err
	}
	return size, os.Rename(tmp.Name(), path)
}

func writeAll(w io.Writer, pieces [][]byte) (size int64, err error) {
	for _, piece := range pieces {
		n, err := w.Write(piece)
		if size += int64(n); err != nil {
			return size, err
		}
	}
	return size, nil
}

// versionPattern finds the version at the end of a file: its last key.
var versionPattern = regexp.MustCompile(`"version": (\d+)\s*\}\s*$`)

// versionOf reads the version from the end of a file.
func versionOf(path string) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	const end = 64
	if _, err := file.Seek(-end, io.SeekEnd); err != nil {
		return 0, fmt.Errorf("read the version of %s: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(file, end))
	if err != nil {
		return 0, fmt.Errorf("read the version of %s: %w", path, err)
	}
	m := versionPattern.FindSubmatch(data)
	if m == nil {
		return 0, fmt.Errorf("read the version of %s: no version", path)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}
