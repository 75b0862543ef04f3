// Package proof tells workflows whether the gateway has sent what names a caller. People signal
// workflows too, and could write any name into a signal.
//
// The gateway adds a proof to each start, signal and update that has an identity, made with the
// keys that gateways and workers share (credential.Keyring.Prove). It is about the whole
// payload and the workflow it is for, so a copy with other content, or for another workflow,
// proves nothing. A workflow refuses an identity without a proof that holds. What it found is
// recorded in its history (Checker.Check): replays need no keys, and a key that is removed
// later changes nothing that was proven.
package proof
