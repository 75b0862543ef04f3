package filesystem

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"
	"sync/atomic"
)

// batchSize is how many files of one folder are searched at once at most.
const batchSize = 256

// search is one call of grep over the files below a path. Files of a folder are
// read in parallel; what they hold is reported in order.
type search struct {
	ctx      context.Context
	at       location
	filter   func(ctx context.Context, base string) bool // nil lets all pass
	max      int
	room     int64 // bytes of text that may still be returned
	scanners []*scanner
	batch    []found
	result   grepResult
}

func newSearch(ctx context.Context, at location, q *query, max int, room int64) *search {
	s := &search{ctx: ctx, at: at, max: max, room: room, result: grepResult{Matches: []*match{}}}
	for range min(runtime.GOMAXPROCS(0), 8) {
		s.scanners = append(s.scanners, newScanner(ctx, q))
	}
	return s
}

// run searches the file or folder of the call. It returns errEnough when it
// stopped at a limit, or what kept it from going on.
func (s *search) run(depth int) error {
	file, _, err := s.at.root.openFile(s.at.rel, os.O_RDONLY)
	if err == nil {
		defer file.Close()
		return s.merge(s.one(s.scanners[0], ".", file, share{s.tally(1), 0}))
	}
	if !errors.Is(err, errFolder) {
		return err
	}
	dir, err := s.at.openFolder()
	if err != nil {
		return err
	}
	defer dir.Close()
	w := walk{ctx: s.ctx, depth: depth, visit: s.visit, leave: s.flush}
	err = w.in(dir, "")
	s.result.Unreadable += w.unreadable
	return err
}

// visit keeps files until there are enough for all scanners, or until the walk
// goes on to another folder.
func (s *search) visit(at found) error {
	kind := at.entry.Type()
	if kind.IsDir() {
		return s.flush()
	}
	if !kind.IsRegular() && kind != fs.ModeSymlink || !s.wants(at.entry.Name()) {
		return nil
	}
	if s.batch = append(s.batch, at); len(s.batch) < batchSize {
		return nil
	}
	return s.flush()
}

func (s *search) wants(name string) bool { return s.filter == nil || s.filter(s.ctx, name) }

// tally is what the files of a batch have found so far. A file is done when it
// and those before it have found enough: what it would add is never returned.
type tally struct {
	room, max      int64 // for the whole batch
	bytes, matches []atomic.Int64
}

func (s *search) tally(files int) *tally {
	return &tally{s.room, int64(s.max - len(s.result.Matches)), make([]atomic.Int64, files), make([]atomic.Int64, files)}
}

// share is the part of one file in a tally.
type share struct {
	*tally
	place int
}

// spend notes text and matches, and says of what there is now enough.
func (s share) spend(bytes, matches int) (text, all bool) {
	s.bytes[s.place].Add(int64(bytes))
	s.matches[s.place].Add(int64(matches))
	var allBytes, allMatches int64
	for i := range s.place + 1 {
		allBytes += s.bytes[i].Load()
		allMatches += s.matches[i].Load()
	}
	text = allBytes >= s.room
	return text, text || allMatches >= s.max
}

// outcome is what one file held.
type outcome struct {
	matches    []*match
	enough     bool
	unreadable bool
	err        error // the end of the call
}

// flush searches the files that were kept.
func (s *search) flush() error {
	outcomes := make([]outcome, len(s.batch))
	tally := s.tally(len(s.batch))
	var group sync.WaitGroup
	for i, scanner := range s.scanners[:min(len(s.scanners), len(s.batch))] {
		group.Go(func() {
			for j := i; j < len(s.batch) && s.ctx.Err() == nil; j += len(s.scanners) {
				outcomes[j] = s.file(scanner, s.batch[j], share{tally, j})
			}
		})
	}
	group.Wait()
	s.batch = s.batch[:0]
	for _, o := range outcomes {
		if err := s.merge(o); err != nil {
			return err
		}
	}
	return s.ctx.Err()
}

// merge adds what one file held to the result, as far as the limits go.
func (s *search) merge(o outcome) error {
	if o.unreadable {
		s.result.Unreadable++
	}
	for _, m := range o.matches {
		s.result.Matches = append(s.result.Matches, m)
		s.room -= m.size
		if len(s.result.Matches) >= s.max || s.room <= 0 {
			return errEnough
		}
	}
	if o.err == nil && o.enough {
		return errEnough
	}
	return o.err
}

func (s *search) file(with *scanner, at found, part share) outcome {
	file, err := s.open(at)
	if err != nil { // a link to nowhere or to a folder, or a file gone by now, is nothing
		return outcome{unreadable: at.entry.Type().IsRegular() && !isMissing(err)}
	}
	defer file.Close()
	return s.one(with, at.rel, file, part)
}

func (s *search) one(with *scanner, name string, file *os.File, part share) outcome {
	err := with.scan(name, file, part)
	o := outcome{matches: with.matches, enough: with.done}
	if err != nil && s.ctx.Err() == nil {
		o.unreadable = true
	} else {
		o.err = err
	}
	return o
}

// open follows a link as far as the root goes.
func (s *search) open(at found) (*os.File, error) {
	if at.entry.Type() != fs.ModeSymlink {
		file, _, err := openKnown(at.dir, at.entry.Name(), os.O_RDONLY)
		return file, err
	}
	target, err := s.at.root.resolve(path.Join(s.at.rel, at.rel))
	if err != nil {
		return nil, err
	}
	file, _, err := s.at.root.openFile(target, os.O_RDONLY)
	return file, err
}
