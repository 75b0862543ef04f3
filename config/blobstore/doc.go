// Package blobstore keeps values that are too large for a workflow's history,
// by the SHA-256 of their content. It implements transcript.Cache.
//
//	store, err := blobstore.Open(ctx, cfg.BlobURL())
//	defer store.Close()
//
// The value with the sum abcdef… is the file ab/cdef…. A value never changes,
// so writing it again does nothing unless what is stored is damaged or gone; several
// processes may share a folder, and what was read once is served from memory
// (CacheSize). Put returns when the value is on disk: a history must never hold an
// address without its value. What cannot be given back as it was stored is named by a
// transcript.Loss.
//
// Beside the values a Store keeps claims (Claim): names that are taken once, for what
// must not happen again when a history is wound back, by an operator or by a power cut.
// They are in the folder claims, and on disk when Claim returns.
//
// Folders and memory are linked in. For an object store, import its gocloud.dev
// driver here and allow its scheme in package config.
package blobstore
