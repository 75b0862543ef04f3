// Package blobstore stores values that are too large for a workflow's history under the SHA-256
// of their content. It implements transcript.Cache.
//
//	store, err := blobstore.Open(ctx, cfg.BlobURL())
//	defer store.Close()
//
// The value with the sum abcdef… is the file ab/cdef…. A value never changes, so Put writes it
// only if it is missing, damaged or old. Several processes may share a folder. Values that were read
// are served from memory (CacheSize). Put returns when the value is on disk, because a history
// must never contain an address without its value. Get returns a missing or damaged value as a
// transcript.Loss.
//
// With Encrypt, values are encrypted; their names and everything below are not.
//
// A Store also keeps claims (Claim): names that can be taken once. They protect calls that must
// not run again if a history loses its end, through an operator's reset or a power cut. They are
// in the folder claims, and on disk when Claim returns.
//
// Records (LoadRecord, SaveRecord) are small values under a name that change. They are in the
// folder records; who saves them seals them.
//
// Collect removes values that nothing refers to: it puts them aside first (the folder aside), and
// removes them a grace period later. Holders of references mark theirs (Mark, the folder marks),
// because several may share a store. Tombstones of deleted conversations (Bury) are in the folder
// tombstones and stay.
//
// A Folder has files that are created once, exactly among all processes: the audit log.
//
// The drivers for folders and memory are linked in. Those of object stores are in the module
// deploy/stores, which a program imports that is to have them. There a claim is exact among all
// processes: the store refuses to overwrite it, which Open makes sure of.
package blobstore
