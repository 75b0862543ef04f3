// Package bucket is a bucket of an object store, or what is below a prefix of it, as a [store.Store], through
// gocloud.dev/blob: s3://, gs://, azblob:// and mem://.
//
//	b, err := bucket.Open(ctx, "s3://reports?region=eu-central-1&prefix=2026/", bucket.Config{MaxFile: 8 << 20})
//
// An ID is a path below the prefix. Folders are what paths have in common; an empty one does not exist.
//
// # Changes
//
// Objects are replaced as a whole, on conditions of the store: a new one if there is none (If-None-Match), an
// appended one if it is still the one that was read (If-Match, or the generation at Google). So nothing of
// others is overwritten, as long as the store knows conditions. Where somebody else was faster the file is read
// again, three times at most; not if the call names a version. mem:// has no conditions, and no other process.
//
// Each write carries a mark of its call in the metadata of the object ([metadataKey]), see [store.Mark]: the same
// call again finds it and changes nothing, also after a restart. Copies that others make have it, too.
//
// A deleted object is copied below [store.TrashFolder] and the mark of the call, and then deleted on the
// condition that it has not changed. Lifecycle rules of the store can empty that folder.
package bucket
