package server

import (
	"errors"
	"fmt"
	"strings"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/workflows/credential/cosigner"
)

// WitnessFolder is the folder of the blob store with what the witness has signed.
const WitnessFolder = "witness"

// ErrWitnessKey means that several processes would make a key each.
var ErrWitnessKey = fmt.Errorf("witness: set %s, which all gateways share; agent audit key --witness --new NAME makes one", auditlog.WitnessKeyVariable)

// WitnessKey returns the key of the witness: from the environment, or the file in data_dir, which is made
// if one process has its own server.
func WitnessKey(c *config.Config, getenv func(string) string) (k cosigner.Key, err error) {
	text := getenv(auditlog.WitnessKeyVariable)
	switch {
	case text != "":
		if k, err = cosigner.ParseKey(text); err != nil {
			return k, fmt.Errorf("%s: %w", auditlog.WitnessKeyVariable, err)
		}
	case platform.External(c, getenv):
		return k, ErrWitnessKey
	default:
		if k, err = cosigner.KeyFile(auditlog.WitnessKeyFile(c.DataDir), c.Witness.Name); err != nil {
			return k, fmt.Errorf("witness: %w", err)
		}
	}
	if name := k.Signer.Name(); name != c.Witness.Name {
		return k, fmt.Errorf("witness: its key is that of %s, and the witness is %s", name, c.Witness.Name)
	}
	return k, nil
}

// witnessOf returns the witness that a gateway is, nil without one.
func witnessOf(c *config.Config, p Parts) (*witness.Endpoint, error) {
	if c.Witness == nil {
		return nil, nil
	}
	if strings.HasPrefix(c.BlobURL(), "mem:") {
		return nil, errors.New("witness: blobs.url is a store in memory, which would forget what was signed")
	}
	k, err := WitnessKey(c, p.Getenv)
	if err != nil {
		return nil, err
	}
	e, err := witness.New(witness.Options{Store: p.Signed, Key: k, Logs: c.Witness.Logs, Logger: p.Logger})
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	return e, nil
}
