package merkle

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// folder has the batches.
const folder = "log/"

// batchName returns the name of a batch. A thousand share a folder.
func batchName(n int64) string { return fmt.Sprintf("%s%07d/%03d", folder, n/1000, n%1000) }

// batch is the text of a batch.
type batch struct {
	lines      [][]byte
	checkpoint []byte
}

func (b batch) text() []byte {
	var out bytes.Buffer
	for _, line := range b.lines {
		out.Write(line)
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	out.Write(b.checkpoint)
	return out.Bytes()
}

var errBatch = errors.New("it is not a batch")

// parseBatch reads a text. What it returns has the same text.
func parseBatch(text []byte) (b batch, err error) {
	head, rest, ok := strings.Cut(string(text), "\n\n")
	if !ok || head == "" {
		return b, errBatch
	}
	for line := range strings.SplitSeq(head, "\n") {
		b.lines = append(b.lines, []byte(line))
	}
	b.checkpoint = []byte(rest)
	if !bytes.Equal(b.text(), text) {
		return b, errBatch
	}
	return b, nil
}
