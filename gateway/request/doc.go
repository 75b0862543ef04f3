// Package request reads from HTTP requests what all front ends need. It knows no router.
//
// call.go          Call: the caller, the conversation, and whether the client is connected
// body.go          JSON bodies
// members.go       unknown members of objects
// decode_error.go  errors of encoding/json in words for callers
// key.go           idempotency keys
// cursor.go        page cursors
// files.go         files that come with a message
// tidy.go          paths in the form of the routes
// accept.go        the media type that the client wants, and whether it waits
package request
