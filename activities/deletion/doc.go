// Package deletion has the activities of deletions (end.go, bury.go, erase.go). They work on the
// workflows of the namespace that they run in (server.go).
package deletion
