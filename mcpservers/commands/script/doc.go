// Package script finds the places where a shell script would read a value as code. Values come in
// environment variables, which is safe as long as the script treats them as text:
//
//	faults, err := script.Check(source, false, map[string]bool{"ARG_WORD": true})
//
// A value stays one through assignments, arrays, loops, functions and command substitutions. Check
// does not follow the order of statements: a variable that holds a value once always counts as one.
//
// check.go     Check: where values are, and expansions of them
// command.go   commands, and the programs that read a value as code
// array.go     commands that a script puts together in arrays
// launched.go  programs that others start; launch.go which those are, also for commands that are lists
//
// # What is refused
//
//   - an expansion of a value without quotes, which splits it into words and expands globs;
//   - eval, source, trap, a nested shell or interpreter that takes a value as code, and ssh;
//   - a value as the name of a command, of a variable or of a function;
//   - a value in arithmetic, where bash runs the command in a[$(command)], also in [[ x -eq y ]], in an
//     index or in a slice;
//   - a value as the program of sed or awk;
//   - a value as a program or as code behind a program that starts others: docker exec, find -exec.
//
// It is not a proof: a program that the script starts may do with its arguments what it wants. It
// uses the parser of mvdan.cc/sh, which also reports syntax errors before the first call does.
package script
