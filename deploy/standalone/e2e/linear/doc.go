// Package linear checks recorded histories of approvals: whether one order of what concurrent
// clients did explains every answer that they got (linearizability, with
// github.com/anishathalye/porcupine). A History is about one call of a rule that asks several
// people, with an escalation when nobody decides in time, and deputies.
//
//	history.go  what clients record       model.go  what may happen, one thing after the other
package linear
