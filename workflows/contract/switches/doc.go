// Package switches has the wire types of the workflow Control: switches that pause destructive
// calls, and the calls that wait for them to be removed.
//
// There is one Control in a namespace. Its memo MemoSwitches is the State that counts: it can be
// read without a worker. Without a running Control nothing is paused.
package switches
