package merkle

import (
	"encoding/json"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"agent-stop-and-go/workflows/contract/audit"
)

// Format names the form of an Export.
const Format = "agent-audit-export/1"

// Export is what a log has of a conversation, with what proves it without the log: the program
// deploy/audit-verify does.
type Export struct {
	Format       string `json:"format"`
	Conversation string `json:"conversation"`
	// Checkpoint is a signed note; its size and root are those of the proofs.
	Checkpoint string `json:"checkpoint"`
	// Keys are the public keys of the log, and of its witness. Whoever checks an export compares
	// them with keys that came another way.
	Keys   []string   `json:"keys"`
	Leaves []Exported `json:"leaves"`
}

// Exported is a leaf with its inclusion proof (RFC 6962, section 2.1.1) and its text, if that was
// not erased.
type Exported struct {
	Index int64            `json:"index"`
	Line  string           `json:"line"`
	Proof tlog.RecordProof `json:"proof"`
	Text  *audit.Text      `json:"text,omitempty"`
}

// Prove returns the export of the leaves for which wants holds, without texts.
func (c *Contents) Prove(checkpoint []byte, size int64, wants func(audit.Leaf) bool) (e Export, err error) {
	e = Export{Format: Format, Checkpoint: string(checkpoint), Leaves: []Exported{}}
	for i, l := range c.Leaves[:size] {
		if !wants(l) {
			continue
		}
		proof, err := tlog.ProveRecord(size, int64(i), &c.Tree)
		if err != nil {
			return e, fmt.Errorf("prove leaf %d: %w", i, err)
		}
		e.Leaves = append(e.Leaves, Exported{Index: int64(i), Line: string(c.Lines[i]), Proof: proof})
	}
	return e, nil
}

// JSON returns the export as a file, with lines as they are hashed.
func (e Export) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(e, "", "  ")
	return append(data, '\n'), err
}
