package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
)

// Mark is what a change leaves at a file, in the same step as the change, so that a repeated call finds that
// it was made. It is made of the idempotency key of the call, and is random without one.
type Mark struct {
	ID   string // 22 characters of A-Z, a-z, 0-9, - and _
	Args string // 11 characters: a digest of tool and arguments
}

// NewMark returns the mark of a call of a tool.
func NewMark(tool string, key hosting.CallKey) Mark {
	id := key.Key
	if id == "" {
		id = rand.Text()
	}
	return Mark{ID: digest(16, "key", id), Args: digest(8, tool, key.ArgsSHA256)}
}

func digest(size int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return base64.RawURLEncoding.EncodeToString(sum[:size])
}

// Check returns an error if args are those of another call with the same key.
func (m Mark) Check(args string) error {
	if args != m.Args {
		return hosting.ErrKeyReused
	}
	return nil
}

// MaxMarks is the number of marks that a file keeps, the last ones.
const MaxMarks = 20

// Marks are those of a file in one text, the latest last: ID.Args ID.Args …
type Marks string

// Find returns the digest of the arguments of a mark.
func (m Marks) Find(id string) (args string, found bool) {
	for word := range strings.FieldsSeq(string(m)) {
		if args, found = strings.CutPrefix(word, id+"."); found {
			return args, true
		}
	}
	return "", false
}

// With adds a mark, and drops the oldest of too many.
func (m Marks) With(mark Mark) Marks {
	words := append(strings.Fields(string(m)), mark.ID+"."+mark.Args)
	return Marks(strings.Join(words[max(0, len(words)-MaxMarks):], " "))
}
