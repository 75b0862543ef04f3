package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/workflows/contract/audit"
)

// Timeout bounds what one witness may take.
const Timeout = 5 * time.Second

// Folder is the folder of the audit log with what its witnesses have signed: FOLDER/KEY-ID/SIZE is the newest
// checkpoint of each, a note with the signatures of the log and of the witness.
const Folder = "cosigned/"

// Log is what is countersigned.
type Log interface {
	// Newest returns the newest checkpoint; its size is 0 if there is none.
	Newest(ctx context.Context) (text []byte, c merkle.Checkpoint, err error)
	// Prove returns the proof that size leaves continue old of them.
	Prove(old, size int64) (tlog.TreeProof, error)
}

// Files keep what was signed.
type Files interface {
	merkle.Store
	// Remove removes all files whose names begin with a prefix.
	Remove(ctx context.Context, prefix string) error
}

// Panel are the witnesses of a log. A nil Panel has none. It is safe for concurrent use.
type Panel struct {
	log     Log
	files   Files
	members []*member
}

// member is a witness, with the size that it has signed last as far as this process knows.
type member struct {
	*Remote
	mu     sync.Mutex
	looked bool
	signed int64
	kept   []string // names of files
}

// NewPanel returns the panel of a log, or nil without witnesses.
func NewPanel(l Log, f Files, witnesses ...*Remote) *Panel {
	if len(witnesses) == 0 {
		return nil
	}
	p := &Panel{log: l, files: f}
	for _, w := range witnesses {
		p.members = append(p.members, &member{Remote: w})
	}
	return p
}

// Len returns the number of witnesses.
func (p *Panel) Len() int {
	if p == nil {
		return 0
	}
	return len(p.members)
}

// Sign has all witnesses sign the newest checkpoint, those that have not, and says what each has signed. The
// error is one of the log.
func (p *Panel) Sign(ctx context.Context) ([]audit.Witnessed, error) {
	if p == nil {
		return nil, nil
	}
	text, c, err := p.log.Newest(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]audit.Witnessed, len(p.members))
	var wg sync.WaitGroup
	for i, m := range p.members {
		wg.Go(func() { out[i] = p.signed(ctx, m, text, c) })
	}
	wg.Wait()
	return out, nil
}

func (p *Panel) signed(ctx context.Context, m *member, text []byte, c merkle.Checkpoint) audit.Witnessed {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	out := audit.Witnessed{Name: m.verifier.Name()}
	if err := p.ask(ctx, m, text, c); err != nil {
		out.Problem = err.Error()
	}
	out.Size = m.signed
	return out
}

// ask has one witness sign a checkpoint.
func (p *Panel) ask(ctx context.Context, m *member, text []byte, c merkle.Checkpoint) error {
	if err := p.look(ctx, m); err != nil {
		return err
	}
	if m.signed >= c.Size {
		return nil
	}
	signature, err := m.Sign(ctx, m.signed, text, c.Size, p.log.Prove)
	if err != nil {
		return err
	}
	return p.keep(ctx, m, c.Size, text, signature)
}

// name returns the name of a file. Sizes sort as their names do.
func (m *member) name(size int64) string {
	return fmt.Sprintf("%s%08x/%019d", Folder, m.verifier.KeyHash(), size)
}

// look finds out once what is kept of a witness.
func (p *Panel) look(ctx context.Context, m *member) error {
	if m.looked {
		return nil
	}
	names, err := p.files.List(ctx, fmt.Sprintf("%s%08x/", Folder, m.verifier.KeyHash()))
	if err != nil {
		return err
	}
	for _, name := range names {
		if size, err := strconv.ParseInt(name[strings.LastIndex(name, "/")+1:], 10, 64); err == nil {
			m.signed, m.kept = max(m.signed, size), append(m.kept, name)
		}
	}
	m.looked = true
	return nil
}

// keep keeps a checkpoint that a witness has signed, instead of those before.
func (p *Panel) keep(ctx context.Context, m *member, size int64, text []byte, s note.Signature) error {
	signed := fmt.Appendf(bytes.Clone(text), "— %s %s\n", s.Name, s.Base64)
	name := m.name(size)
	if err := p.files.Create(ctx, name, signed); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	m.signed = size
	for _, old := range m.kept {
		if old == name {
			continue
		}
		if err := p.files.Remove(ctx, old); err != nil { // it is removed with the next one
			m.kept = append(m.kept, name)
			return nil
		}
	}
	m.kept = []string{name}
	return nil
}

// Kept returns the checkpoints that are kept in the folder of a log, by the names of their files. They are not
// checked.
func Kept(ctx context.Context, f merkle.Store) (map[string][]byte, error) {
	names, err := f.List(ctx, Folder)
	if err != nil {
		return nil, fmt.Errorf("list what witnesses have signed: %w", err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		text, err := f.Read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) { // a newer one is there
			continue
		}
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}
