// Package keyring reads the keys that seal callers' tokens, from the environment or from a file
// that a single machine creates for itself.
package keyring
