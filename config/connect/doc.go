// Package connect connects a process to the Temporal server that the configuration and the
// environment name. Dial waits until the server answers; EnsureSearchAttributes prepares its
// namespace for conversations. Identity and IsDead name processes at the server. Every connection
// watches over the requests of its workers for tasks (polls.go).
package connect
