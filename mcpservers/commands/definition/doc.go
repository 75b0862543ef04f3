// Package definition reads the YAML files of package commands: a tool, a prompt or a resource in
// each file. It checks them, describes arguments as JSON schema, and turns the values of a call into
// what a process gets. It starts nothing.
//
// # A tool
//
//	name: find-notes
//	short: Find notes by a word
//	flags:
//	  - {name: word, type: string, required: true, help: What to look for}
//	  - {name: limit, type: int, default: 20}
//	command: [grep, -r, --max-count, "{limit}", --, "{word}", .]
//	cwd: ./notes
//	hints: {read-only: true}
//
// The keys name, short, long, flags, arguments, layers, command, shell-script, cwd, environment and
// capture-stderr are those of go-go-mcp. The others are [Tool]'s.
//
// # Values
//
// An element of command is a literal or exactly one argument in braces; a value is one element of
// the process's argv and is never joined with anything. Three rules keep a value from becoming an
// option or a program:
//
//   - the first element is a literal;
//   - a value that begins with "-" is refused, unless a literal "--" stands in front of its element;
//   - no argument stands where a shell or an interpreter takes code (bash -c, python -c, …).
//
// A list becomes one element for each of its values. An element that is itself a list is a group: it
// is left out as a whole if its argument is absent, empty or false. A boolean in a group is only
// that condition:
//
//	command: [gh, issue, list, [--label, "{label}"], [--web, "{web}"]]
//
// A shell-script gets values in environment variables: ARG_WORD for word; for a list ARG_LABEL_COUNT and
// ARG_LABEL_0, ARG_LABEL_1, …; and, if the script names it, ARG_WORD_JSON with the value as JSON. An absent
// value is the empty string. A text that begins with "-" is refused here, too, unless the argument has
// allow-dash, which is for texts that no program gets as an element of its own. Scripts that would read a
// value as code are refused, see package script.
//
// # Files
//
//	load.go      a file, and which of the three it is; Go templates are refused
//	tool.go      tools and their checks
//	parameter.go types of arguments, schema, defaults
//	value.go     the values of a call
//	command.go   argv, environment
//	interpreter.go  arguments that would be code or a program
//	offer.go     prompts and resources
package definition
