// Package convert rewrites tool files of go-go-mcp, which paste values into commands with Go
// templates, into the safe form of package definition.
//
//	text, err := convert.File("old.yaml", data)
//
// An element of command that is one template becomes {argument}. If templates are mixed with text, the
// command becomes a shell-script. In a script a template becomes a variable with the quotes that its
// place needs: inside "…" as it is, inside '…' by leaving the quotes for a moment, in a here-document after
// making it one that expands. {{ if }} and {{ range }} on lines of their own become if and for; inside a text they
// become a command substitution.
//
//	{{ .Args.x }}                    ${ARG_X}
//	{{ .Args.x | printf "%q" }}      ${ARG_X_JSON}
//	{{ .Args.list | join "," }}      the values with commas
//	{{ .Args.x | base }}             ${ARG_X##*/}
//	{{ .Env.X }}                     ${X}, and pass-environment
//
// Where a script collects the words of a command in a text, and gives that to eval, it gets an array: a value is
// then one word.
//
// The result is checked like every definition. What stays dangerous, such as eval with a value, and
// templates that are not known here, are errors with the line: nothing is written then.
//
// # Files
//
//	file.go      the YAML file
//	skeleton.go  which template stands where in the script
//	emit.go      the new script
//	assemble.go  arrays instead of texts for eval; fragment.go the words of such a text
//	private.go   files that a converted script would lose
//	expression.go templates as expressions and conditions of the shell
package convert
