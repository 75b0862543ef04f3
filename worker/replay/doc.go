// Package replay replays the histories of a Temporal server with the workflows of this program,
// and says which runs a worker of this program could not continue. Nothing at the server changes.
package replay
