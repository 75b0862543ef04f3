package credential

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// proofLabel separates the keys of proofs from those that seal.
const proofLabel = "agent-stop-and-go proof v1"

// proofKey returns a function that makes the proof of a text with a key.
func proofKey(k Key) func(text []byte) []byte {
	derived := mac(k.Secret, []byte(proofLabel))
	return func(text []byte) []byte { return mac(derived, text) }
}

func mac(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// Prove returns a proof that the holder of a key has sent a payload to a workflow, under the
// name of a signal or update: "v1.<key>.<HMAC-SHA-256>". It is about the JSON of the payload
// without its key "proof".
func (r *Keyring) Prove(workflowID, name string, payload any) (string, error) {
	text, err := proofText(workflowID, name, payload)
	if err != nil {
		return "", fmt.Errorf("prove a %s: %w", name, err)
	}
	return version + "." + r.primary + "." + encoding.EncodeToString(r.proofs[r.primary](text)), nil
}

// Proves reports whether a proof is that of the payload. A raw payload may be JSON that anybody
// typed.
func (r *Keyring) Proves(workflowID, name string, payload any, proof string) bool {
	parts := strings.Split(proof, ".")
	if len(parts) != 3 || parts[0] != version || r.proofs[parts[1]] == nil {
		return false
	}
	given, err := encoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	text, err := proofText(workflowID, name, payload)
	return err == nil && hmac.Equal(given, r.proofs[parts[1]](text))
}

// proofText returns what a proof is about. It fails for a payload with repeated keys, which
// readers of JSON understand in different ways.
func proofText(workflowID, name string, payload any) ([]byte, error) {
	raw, err := json.Marshal(payload) // compacts raw JSON too
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	if count(raw) != len(members) {
		return nil, errors.New("a key is repeated")
	}
	delete(members, "proof")
	return json.Marshal([]any{workflowID, name, members})
}

// count returns the number of members of an object.
func count(object []byte) (n int) {
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token() // the object is valid JSON, as all that follows
	for ; dec.More(); n++ {
		var value json.RawMessage
		_, _ = dec.Token()
		_ = dec.Decode(&value)
	}
	return n
}
