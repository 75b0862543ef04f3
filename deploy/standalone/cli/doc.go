// Package cli has the commands with which people and scripts talk to a running agent: chat, ask,
// approvals, conversations and tools. They use package client and know nothing else of the
// agent.
//
// cli.go            Commands; the flags that all of them have
// exit.go           the exit codes, and what to do about an error
// output.go         text or JSON, tables, colours
// ask.go            ask; printer.go prints a turn while it runs
// chat.go           chat, in a pipe; package chat is the one at a terminal
// question.go       the questions that ask asks at a terminal, also the fields of a form one by one
// login.go          login and logout; package login has the tokens
// approvals.go, bulk.go, conversations.go, tools.go, switches.go, limits.go, deputies.go, grants.go   the other commands
// prompts.go        prompt used: the prompts that a conversation has had
// lint.go           tools lint, which asks a tool server instead of an agent
// complete.go       IDs, completed from the agent
//
// The standard output has the answer, the error output everything about it, so a script can
// read the one and a person the other. Whatever a model, a tool or another agent wrote passes
// through package screen.
package cli
