// Package keys is a file of keys with which callers prove who they are.
//
//	key.go      a key, and the text that its holder sends
//	file.go     the file, and how it is changed
//	reader.go   a reader that notices changes, for a gateway
//	used.go     when each key was used, in a file beside it; another one has the names that were revoked
//
// The file has hashes of the keys, so whoever reads it cannot call. A key has 256 random bits:
// nobody can guess it from a fast hash, so a slow one, which would cost every request
// milliseconds, protects nothing.
//
// Several gateways may read one file. Only `agent keys` writes it; it may be mounted read-only.
package keys
