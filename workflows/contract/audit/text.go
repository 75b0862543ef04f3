package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Text is what people, models and tools wrote about an event. It is kept outside of the log.
type Text struct {
	Leaf string `json:"leaf"` // its ID
	// Salt keeps others from finding the text by guessing: 32 random bytes.
	Salt []byte `json:"salt"`
	// Content is JSON: a Shown, an Edited or a Decided.
	Content json.RawMessage `json:"content"`
}

// Shown is the text of a proposal and of what an approval shows.
type Shown struct {
	Arguments       json.RawMessage `json:"arguments,omitempty"`
	ArgumentsSHA256 string          `json:"arguments_sha256,omitempty"`
	Description     string          `json:"description,omitempty"`
	Requester       string          `json:"requester,omitempty"` // the key of the identity
	Approvers       []string        `json:"approvers,omitempty"`
	// Address and Definition bind the grant: the server's address, and the digest of the tool.
	Address    string `json:"address,omitempty"`
	Definition string `json:"definition,omitempty"`
}

// Edited is the text of changes with which a call was approved.
type Edited struct {
	Shown           json.RawMessage `json:"shown_arguments,omitempty"`
	ShownSHA256     string          `json:"shown_arguments_sha256"`
	Arguments       json.RawMessage `json:"arguments,omitempty"`
	ArgumentsSHA256 string          `json:"arguments_sha256"`
}

// Decided is the text of a decision.
type Decided struct {
	By         string   `json:"by,omitempty"`
	OnBehalfOf string   `json:"on_behalf_of,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Chain      []string `json:"chain,omitempty"`
}

// NewText returns a text with a new salt.
func NewText(leaf string, content any) (Text, error) {
	t := Text{Leaf: leaf, Salt: make([]byte, 32)}
	rand.Read(t.Salt) // never fails
	var err error
	t.Content, err = json.Marshal(content)
	return t, err
}

// Sum returns the commitment of a leaf to a text: the base64 of the SHA-256 of the salt and the content.
func (t Text) Sum() string {
	h := sha256.New()
	h.Write(t.Salt)
	h.Write(t.Content)
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}
