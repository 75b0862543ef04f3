// Package google is one folder of Google Drive as a [store.Store], by version 3 of the API.
//
//	d, err := google.Open(ctx, google.Config{Folder: "1AbC…", Credential: google.ServiceAccount(key, "")}, log)
//
// # The folder
//
// An ID names any file that the account can see. So nothing is done with one that is not shown to be within the
// configured folder: its parents are asked for, up to the folder, with each call anew, because files are moved.
// A shortcut is within the folder if it is; what it leads to has to be within the folder as well. Files that
// were moved out, or whose parents the account cannot see, are not found. Between the proof and the change there
// is a moment in which somebody can move a file; Drive has no condition for that.
//
// # Changes
//
// Files of Drive cannot be appended to, and version 3 of the API has no conditional update. Append reads the
// file, checks that its head revision is still the one that was read, and uploads all of it. What somebody else
// uploads between the check and the upload is overwritten; Append sees it afterwards in the list of revisions
// and says so, with the revision in which it still is. Appends of this process follow one another.
//
// A new file has an ID that Drive has issued beforehand, so that the same request twice makes one file. Each
// change leaves a mark in the appProperties of the file, in the same request (see [store.Mark]): a change without
// an answer is looked for, and a repeated one found. A search for marks may lag behind, so after the process was
// killed a repeated creation may make a second file; the server does not declare that it recognises repeated calls.
//
// # Requests
//
// Refused requests (429, and 403 with a reason of rates) are repeated with growing pauses, or after Retry-After.
// After a 5xx or a broken connection only what reads, or can be made once only, is repeated.
//
// # Files
//
//	google.go                 opening
//	credential.go login.go    tokens: of a service account, of the caller
//	transport.go failure.go   requests and errors
//	within.go                 the proof
//	list.go read.go create.go append.go delete.go   the methods
//	drivetest/                a server that speaks the protocol, for tests
package google
