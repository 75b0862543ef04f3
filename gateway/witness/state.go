package witness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/time/rate"
)

// Store keeps files that do not change.
type Store interface {
	// Create writes a file that does not exist yet, whole or not at all. It returns when the file is durable,
	// and fs.ErrExist if another one has the name, whoever writes it at the same time.
	Create(ctx context.Context, name string, data []byte) error
	// Read returns fs.ErrNotExist if there is no file of the name.
	Read(ctx context.Context, name string) ([]byte, error)
	// List returns the names that begin with a prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Limits of checkpoints that a log has signed: an agent sends about one a second while much happens.
const (
	PerSecond = 5
	Burst     = 50
)

// attempts is how often a place for a checkpoint is looked for.
const attempts = 5

// refusal is an answer of the protocol that is no signature.
type refusal struct {
	status int
	text   string
	// size is the one that was signed last, of a conflict that is about it.
	size *int64
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, text: fmt.Sprintf(format, args...)}
}

// state is what was signed of a log.
type state struct {
	origin string
	keys   note.Verifiers
	own    note.Verifier
	signer note.Signer
	store  Store
	limit  *rate.Limiter

	mu     sync.Mutex
	listed bool
	next   int64      // number of the next file
	last   checkpoint // that was signed
	newest []byte     // its note
}

// idOf names a log in URLs and files.
func idOf(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}

func (s *state) folder() string { return idOf(s.origin) + "/" }

// name returns the name of a file. A thousand share a folder.
func (s *state) name(n int64) string {
	return fmt.Sprintf("%s%07d/%03d", s.folder(), n/1000, n%1000)
}

// catchUp reads what this process has not signed itself.
func (s *state) catchUp(ctx context.Context) error {
	if !s.listed {
		names, err := s.store.List(ctx, s.folder())
		if err != nil {
			return err
		}
		for i := len(names) - 1; i >= 0; i-- { // the first in the list of what is no file of ours
			var folder, file int64
			if _, err := fmt.Sscanf(names[i], s.folder()+"%d/%d", &folder, &file); err == nil && names[i] == s.name(1000*folder+file) {
				s.next = 1000*folder + file // which is read next
				break
			}
		}
		s.listed = true
	}
	for {
		text, err := s.store.Read(ctx, s.name(s.next))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := note.Open(text, note.VerifierList(s.own))
		if err != nil {
			return fmt.Errorf("%s is not what this witness has signed: %w", s.name(s.next), err)
		}
		c, err := parseCheckpoint(n.Text)
		if err != nil || originOf(text) != s.origin {
			return fmt.Errorf("%s is no checkpoint of %s: %w", s.name(s.next), s.origin, err)
		}
		s.next, s.last, s.newest = s.next+1, c, text
	}
}

// show returns the newest note that was signed, or nil.
func (s *state) show(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.catchUp(ctx)
	return s.newest, err
}

// open reads the checkpoint of a submission, which one of the log's keys must have signed.
func (s *state) open(text []byte) (*note.Note, checkpoint, error) {
	n, err := note.Open(text, s.keys)
	var unverified *note.UnverifiedNoteError
	var invalid *note.InvalidSignatureError
	switch {
	case errors.As(err, &unverified), errors.As(err, &invalid):
		return nil, checkpoint{}, refuse(http.StatusForbidden, "no key of the log %s that this witness knows has signed the checkpoint", s.origin)
	case err != nil:
		return nil, checkpoint{}, refuse(http.StatusBadRequest, "the checkpoint is no signed note")
	}
	c, err := parseCheckpoint(n.Text)
	if err != nil {
		return nil, c, refuse(http.StatusBadRequest, "the checkpoint cannot be read: %v", err)
	}
	return n, c, nil
}

// add signs a checkpoint that continues what was signed, and returns the note with the signature last. The
// error is a *refusal, or one of the store.
func (s *state) add(ctx context.Context, in submission) (*note.Note, error) {
	n, c, err := s.open(in.note)
	if err != nil {
		return nil, err
	}
	if !s.limit.Allow() {
		return nil, refuse(http.StatusTooManyRequests, "the log sends too many checkpoints")
	}
	if in.old > c.size {
		return nil, refuse(http.StatusBadRequest, "the old size %d is more than that of the checkpoint, %d", in.old, c.size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for range attempts {
		if err := s.catchUp(ctx); err != nil {
			return nil, err
		}
		if err := s.continues(in, c); err != nil {
			return nil, err
		}
		signed, text, err := s.sign(n)
		if err != nil || c == s.last {
			return signed, err
		}
		err = s.store.Create(ctx, s.name(s.next), text)
		if errors.Is(err, fs.ErrExist) { // another gateway was faster
			continue
		}
		if err != nil {
			return nil, err
		}
		s.next, s.last, s.newest = s.next+1, c, text
		return signed, nil
	}
	return nil, fmt.Errorf("%s is there and cannot be read", s.name(s.next))
}

// continues fails if a checkpoint does not continue what was signed.
func (s *state) continues(in submission, c checkpoint) error {
	switch {
	case in.old != s.last.size:
		size := s.last.size
		return &refusal{status: http.StatusConflict, text: "another size was signed last", size: &size}
	case in.old == 0: // there is nothing to continue
		if len(in.proof) > 0 {
			return refuse(http.StatusUnprocessableEntity, "a proof from size 0 has no hashes")
		}
		if c.size == 0 && c.root != tlog.Hash(sha256.Sum256(nil)) {
			return refuse(http.StatusUnprocessableEntity, "the root of an empty log is the SHA-256 of nothing")
		}
		return nil
	case in.old == c.size && c.root != s.last.root:
		return refuse(http.StatusConflict, "another root of %d leaves was signed: %s", c.size, s.last.root)
	}
	if err := tlog.CheckTree(in.proof, c.size, c.root, s.last.size, s.last.root); err != nil {
		return refuse(http.StatusUnprocessableEntity, "the proof does not show that the %d leaves continue the %d that were signed", c.size, s.last.size)
	}
	return nil
}

// sign returns a note with the signature of the witness after those of the log, and its text. Signatures that
// nobody has checked are left out.
func (s *state) sign(n *note.Note) (*note.Note, []byte, error) {
	text, err := note.Sign(&note.Note{Text: n.Text, Sigs: n.Sigs}, s.signer)
	if err != nil {
		return nil, nil, err
	}
	signed, err := note.Open(text, note.VerifierList(s.own))
	return signed, text, err
}
