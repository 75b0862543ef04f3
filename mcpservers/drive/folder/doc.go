// Package folder is a folder of this machine as a [store.Store].
//
//	f, err := folder.Open("./files", folder.Config{MaxFile: 8 << 20})
//
// An ID is a path below it. Everything is done through an [os.Root]: no path and no link leads out, also not one
// that is made at the same moment. (fileblob of gocloud.dev/blob follows links, and so is not used.) FIFOs,
// sockets and devices are refused.
//
// An addition is one write at the end of the file, which is undone if it was incomplete. Nothing of others is
// overwritten. A version is made of time and size. A deleted file is moved below [store.TrashFolder]. Files have
// no marks: repeated calls are recognised by the process only, see hosting.Results.
package folder
