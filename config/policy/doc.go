// Package policy evaluates the named rules of approval.rules: CEL conditions over a call, and what
// follows from them.
//
//	p, errs := policy.New(rules)      // every mistake in a condition, with its place
//	v := p.Judge(call)                // nil: no rule matches, the hints of the tool decide
//	for _, f := range p.Check(tools)  // rules that fit no live tool, or name no argument of it
//
// # What a condition sees
//
//	tool, server, node       names; server is "" for a delegation, node without a tree
//	args                     the arguments, as the tool gets them
//	annotations              read_only, destructive, idempotent: the hints in force
//	caller                   subject, issuer, groups, scopes, channel of the message's sender
//	chain                    the agents that have delegated the work
//	usage                    input_tokens, output_tokens, calls, cost of the conversation so far
//	time                     now, UTC unless a function gets a time zone
//	before, reply            calls before it that have run, and in the same reply: tool, failed
//	sql, …                   what the tool's server says of the call, by the names that New gets:
//	                         sql.class == "write", "orders" in sql.writes, and sql.writes("orders"),
//	                         which takes no notice of case
//
// # What is careful
//
// Of the rules that match, the most careful outcome counts: deny, dry_run, ask, allow. A
// condition that cannot be evaluated (an argument is missing, a type does not fit a function, the
// cost is too high) is not a match and not a miss: the call asks. What is not known of a call is
// absent from its variables for the same reason. Only ==, != and in never fail on types.
//
// Conditions are evaluated without types, because JSON has numbers only and a tool may change its
// schema at any time. Check evaluates them with the types of a tool's schema, so that a misspelt
// argument is found before a call has it.
//
// # Where to look
//
//	rule.go      the shape of a rule in the file
//	language.go  variables and functions of conditions; facts.go those of servers
//	policy.go    New, the version of the rules
//	judge.go     Judge: rules to verdict
//	values.go    calls as CEL values
//	survey.go    Survey: what is decided where not everything is known
//	explain.go   Explain: why, and what would have changed the verdict
//	check.go     Check, with schema.go: a tool's JSON Schema as CEL types
//	cases.go     Run: cases of a test file, and what they cover
package policy
