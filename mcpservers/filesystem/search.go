package filesystem

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"
)

const (
	maxScans  = 8  // concurrent scans of one call of grep; each may hold as much as the call returns
	scanFiles = 64 // in one scan
)

// search is one call of grep. Matches are reported in the order of the files.
type search struct {
	ctx    context.Context
	cancel context.CancelFunc // cancels the scans
	at     location
	filter func(ctx context.Context, base string) bool // by file name; nil accepts all
	limits limits
	next   []source // files of the next scan
	scans  []*scan  // oldest first
	result grepResult
}

// source is a file to scan.
type source struct {
	name    string // name in the matches
	regular bool   // otherwise it is a link
	open    func(*folder) (*os.File, error)
}

// folder is the folder of the previous file, because consecutive files are often in the same
// folder.
type folder struct {
	name string
	dir  *os.Root // nil for none
}

func (f *folder) open(dir *os.Root, rel string) (*os.File, error) {
	in, base := path.Split(rel)
	if in != "" {
		if f.dir == nil || f.name != in {
			f.close()
			opened, err := openFolder(dir, in)
			if err != nil {
				return nil, err
			}
			f.name, f.dir = in, opened
		}
		dir = f.dir
	}
	file, _, err := openAndCheck(dir, base, os.O_RDONLY)
	return file, err
}

func (f *folder) close() {
	if f.dir != nil {
		f.dir.Close()
		f.dir = nil
	}
}

// scan searches a batch of files. After its result has been collected it is reused.
type scan struct {
	scanner
	last       folder
	running    sync.WaitGroup
	unreadable int
}

func newSearch(ctx context.Context, at location, q query, l limits) *search {
	s := &search{at: at, limits: l, result: grepResult{Matches: []match{}}}
	s.ctx, s.cancel = context.WithCancel(ctx)
	for range min(runtime.GOMAXPROCS(0), maxScans) {
		s.scans = append(s.scans, &scan{scanner: scanner{query: q, ctx: s.ctx, buffer: make([]byte, q.lineSize)}})
	}
	return s
}

// run searches the file or folder of the call. It returns errLimitReached when a limit was
// reached, or the error that stopped the search.
func (s *search) run(depth int) error {
	file, _, err := s.at.root.openFile(s.at.rel, os.O_RDONLY)
	if err == nil {
		defer file.Close()
		defer s.stop()
		s.next = []source{{".", true, func(*folder) (*os.File, error) { return file, nil }}}
		return s.finish()
	}
	if !errors.Is(err, errFolder) {
		return err
	}
	dir, err := s.at.openFolder()
	if err != nil {
		return err
	}
	defer dir.Close()
	defer s.stop()
	unreadable, err := walk(s.ctx, dir, depth, func(rel string, entry fs.DirEntry) error { return s.visit(dir, rel, entry) })
	s.result.Unreadable += unreadable
	if errors.Is(err, errLimitReached) {
		return err
	}
	return cmp.Or(s.finish(), err)
}

func (s *search) visit(dir *os.Root, rel string, entry fs.DirEntry) error {
	kind := entry.Type()
	if !kind.IsRegular() && kind != fs.ModeSymlink || s.filter != nil && !s.filter(s.ctx, entry.Name()) {
		return nil
	}
	s.next = append(s.next, source{rel, kind.IsRegular(), func(last *folder) (*os.File, error) {
		if kind.IsRegular() {
			return last.open(dir, rel)
		}
		target, err := s.at.root.resolve(path.Join(s.at.rel, rel)) // follows links inside the root
		if err != nil {
			return nil, err
		}
		file, _, err := s.at.root.openFile(target, os.O_RDONLY)
		return file, err
	}})
	if len(s.next) < scanFiles {
		return nil
	}
	return s.start()
}

// start scans the next files, after waiting for the oldest scan.
func (s *search) start() error {
	if err := s.collect(); err != nil {
		return err
	}
	free, files, limits := s.scans[len(s.scans)-1], s.next, s.limits
	free.running.Go(func() { free.files(files, limits) })
	s.next = nil
	return nil
}

// files scans files one after another until the limits are reached.
func (s *scan) files(files []source, l limits) {
	s.limits = l
	defer s.last.close()
	for _, file := range files {
		if s.ctx.Err() != nil || s.reached() {
			return
		}
		if s.file(file) != nil && s.ctx.Err() == nil {
			s.unreadable++
		}
	}
}

// file scans one file. Missing files, broken links, links to folders and binary files have no
// matches.
func (s *scan) file(f source) error {
	file, err := f.open(&s.last)
	if err != nil && (!f.regular || isMissing(err)) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if isBinary(file, s.buffer) {
		return nil
	}
	return s.scan(f.name, file)
}

// collect waits for the oldest scan, which becomes the newest, and adds its matches to the
// result within the limits.
func (s *search) collect() error {
	oldest := s.scans[0]
	oldest.running.Wait()
	s.scans = append(s.scans[1:], oldest)
	s.result.Unreadable += oldest.unreadable
	for _, m := range oldest.found {
		s.result.Matches = append(s.result.Matches, m)
		s.limits.matches--
		if s.limits.room -= m.size; s.limits.reached() {
			return errLimitReached
		}
	}
	oldest.found, oldest.unreadable = nil, 0
	return nil
}

// finish scans the remaining files and collects all results.
func (s *search) finish() error {
	if err := s.start(); err != nil {
		return err
	}
	for range s.scans {
		if err := s.collect(); err != nil {
			return err
		}
	}
	return s.ctx.Err()
}

// stop cancels the scans and waits for them.
func (s *search) stop() {
	s.cancel()
	for _, scan := range s.scans {
		scan.running.Wait()
	}
}
