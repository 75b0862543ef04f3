// Package worker makes a Temporal worker that runs conversations: it registers
// the workflows and binds every activity reference of package contract to the
// method behind it.
//
// Assemble builds the activities from a configuration; New makes the worker.
// The client must have been dialled with header.Propagator of workflows/credential.
//
// A worker polls three task queues: the agent's, one of its own for the calls that it has
// started (package calls), and that of the namespace's Control (package control).
//
// Judge has calls that wait judged by the rules of the configuration, if it has some (judge.go).
//
// KeepUp starts upkeeps from time to time, which delete old conversations and collect values.
//
// NewReplayer makes a replayer with the workflows of New; package replay replays the histories of a
// server with it.
//
// OpenTasks logs which tasks the process holds, GiveBack returns those of a process that was
// killed: see package tasklog.
package worker
