// Package doctor finds out what an agent lacks: in its file, in its environment, and among all
// that it needs. It changes nothing.
//
// doctor.go   Examine: which checks there are, in which order
// checks.go   the file, the running agent, and Temporal
// audit.go    the audit log and its witnesses
// peers.go    the other agents
package doctor
