// Package backtest judges the calls of recorded conversations by rules that did not decide about
// them.
//
//	for call := range backtest.Calls(conversation, tools) {
//		change := backtest.Compare(call.Past(), call.Judge(rules))
//	}
//
// # What a recording knows
//
// A conversation file has the tools, the arguments, the times, the senders of messages and what
// was decided. It does not have the server and the hints of a tool, which Tools may know as they
// are now; the groups and scopes of senders; the agents that had delegated the work, if it came
// by A2A; facts of servers, unless a verdict has them; and, in a tree, which calls its node knew. The
// usage is that of the earlier messages, without summaries and delegations.
//
// Rules are judged with what is known. Where the rest could change the outcome, the result names
// it instead of guessing.
//
// # Where to look
//
//	recorded.go  the calls of a conversation, and what happened to them
//	compare.go   outcomes then and now, and what kind of change that is
//	report.go    counts
package backtest
