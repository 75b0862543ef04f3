package witness

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/tlog"
)

// maxProof is the number of hashes that the specification allows.
const maxProof = 63

// submission is the body of a request: the size that the witness has signed last, the proof that the
// checkpoint continues it, and the checkpoint as a note.
type submission struct {
	old   int64
	proof tlog.TreeProof
	note  []byte
}

// parse reads a body:
//
//	old 20852014
//	PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
//
//	example.com/behind-the-sofa
//	20852163
//	…
func parse(body []byte) (s submission, err error) {
	head, checkpoint, ok := bytes.Cut(body, []byte("\n\n"))
	if !ok {
		return s, errors.New("there is no empty line before the checkpoint")
	}
	s.note = checkpoint
	lines := strings.Split(string(head), "\n")
	number, ok := strings.CutPrefix(lines[0], "old ")
	if s.old, err = strconv.ParseInt(number, 10, 64); !ok || err != nil || s.old < 0 || strconv.FormatInt(s.old, 10) != number {
		return s, errors.New("the first line must be: old SIZE")
	}
	if len(lines)-1 > maxProof {
		return s, fmt.Errorf("the proof has %d hashes, more than %d", len(lines)-1, maxProof)
	}
	for _, line := range lines[1:] {
		hash, err := tlog.ParseHash(line)
		if err != nil {
			return s, errors.New("a line of the proof is no hash in base64")
		}
		s.proof = append(s.proof, hash)
	}
	return s, nil
}

// originOf returns the first line of a checkpoint.
func originOf(note []byte) string {
	origin, _, _ := bytes.Cut(note, []byte("\n"))
	return string(origin)
}

// checkpoint is a state of a log.
type checkpoint struct {
	size int64
	root tlog.Hash
}

// parseCheckpoint reads the text of a note that the log has signed.
func parseCheckpoint(text string) (c checkpoint, err error) {
	var read log.Checkpoint
	if _, err := read.Unmarshal([]byte(text)); err != nil {
		return c, err
	}
	c.size = int64(read.Size)
	if c.size < 0 || len(read.Hash) != len(c.root) || !strings.HasPrefix(text, string(read.Marshal())) {
		return c, errors.New("its size or its root is not as it must be written")
	}
	copy(c.root[:], read.Hash)
	return c, nil
}
