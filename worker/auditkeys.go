package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// What keys are for, in leaves of the audit log.
const (
	keyOfLog        = "audit log"
	keysOfValues    = "encryption"
	keysOfTokens    = "callers' tokens"
	keysOfCallers   = "callers' keys"
	keysOfWitnesses = "witnesses"
	maxKeysInALeaf  = 150 // characters of their IDs
	noKeys          = "none"
)

// keysInUse returns the leaves that name the keys of this process: that of the log, those that
// encrypt values and seal the tokens of callers, and those of callers and witnesses. The error is about keys that
// cannot be read; the leaves of the others are returned with it.
func (a *Audit) keysInUse() ([]audit.Leaf, error) {
	out := []audit.Leaf{keyLeaf(keyOfLog, []string{fmt.Sprintf("%08x", a.key.Signer.KeyHash())})}
	of := " of " + a.config.AgentName() // agents of a namespace have keys of their own
	codec, noCodec := a.config.Encryption.Open(a.getenv)
	if noCodec == nil {
		out = append(out, keyLeaf(keysOfValues+of, codec.IDs()))
	}
	ring, noRing := keyring.Open(a.config.DataDir, a.getenv, platform.External(a.config, a.getenv))
	if noRing == nil {
		out = append(out, keyLeaf(keysOfTokens+of, ring.IDs()))
	}
	ids, err := callerKeys(a.config.KeysFile())
	switch {
	case errors.Is(err, fs.ErrNotExist): // there are none, or only gateways have them
		err = nil
	case err != nil:
		err = fmt.Errorf("read the keys of callers: %w", err)
	default:
		out = append(out, keyLeaf(keysOfCallers+of, ids))
	}
	if names := a.config.Audit.WitnessKeys(); len(names) > 0 { // a new witness signs this leaf, and so the log
		out = append(out, keyLeaf(keysOfWitnesses, names))
	}
	return out, errors.Join(noCodec, noRing, err)
}

// callerKeys returns the IDs of the keys in a file of package keys of the gateway, sorted. The names of
// callers stay there.
func callerKeys(file string) (ids []string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var content struct {
		Keys []struct {
			ID string `json:"id"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, k := range content.Keys {
		ids = append(ids, k.ID)
	}
	slices.Sort(ids)
	return ids, nil
}

// keyLeaf names keys by their IDs, or if those are too many by their number and a hash.
func keyLeaf(what string, ids []string) audit.Leaf {
	l := audit.Leaf{Kind: audit.KindKey, What: what, Version: strings.Join(ids, ",")}
	switch {
	case len(ids) == 0:
		l.Version = noKeys
	case len(l.Version) > maxKeysInALeaf:
		l.Version = fmt.Sprintf("%d keys, SHA-256 %s", len(ids), contract.Hash([]byte(l.Version)))
	}
	return l
}
