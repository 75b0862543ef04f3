// Package demo is demo:rules, the model without any intelligence that works offline
// and needs no key. Model says which forms of words it understands.
//
//	demo.go       a conversation → a reply: a directive, results, or the user's request
//	directive.go  instructions in the system prompt
//	answer.go     a request → calls, questions, or a list of possible requests
//	request.go    the tool and the arguments of a request
//	demanded.go   the call that is demanded
//	schema.go     a tool as its name and its schema describe it
//	words.go      verbs, nouns, greetings
package demo
