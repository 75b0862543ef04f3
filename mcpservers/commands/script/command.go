package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	codeOptions  = []string{"-c", "-e", "-E", "-r", "-lc", "-p", "-pe", "-ne", "--eval", "--command", "--run", "-exec"}
	takeCode     = []string{"eval", "source", ".", "trap", "ssh", "let", "alias", "bind", "complete", "xargs", "parallel", "watch", "script", "at", "batch"}
	takeNames    = []string{"unset", "read", "mapfile", "readarray", "getopts", "wait", "export", "declare", "typeset", "local", "readonly"}
	programFirst = []string{"sed", "gsed", "awk", "gawk", "mawk", "nawk", "bc", "dc", "jq", "yq"}
	wrappers     = []string{"command", "builtin", "exec", "env", "nohup", "nice", "time", "timeout", "sudo", "doas", "setsid", "stdbuf", "xargs", "ionice", "chroot", "busybox"}
)

// call checks a command with its arguments.
func (c *checker) call(call *syntax.CallExpr) {
	c.unquoted(call.Args)
	for _, command := range c.commands(call.Args) {
		before := len(c.faults)
		if args := c.unwrap(command); len(args) > 0 {
			c.arguments(call, args)
		}
		if len(c.faults) == before {
			c.launched(call, command)
		}
		if len(c.faults) > before {
			return
		}
	}
}

// arguments checks a program, the first of args, with its arguments.
func (c *checker) arguments(call *syntax.CallExpr, args []*syntax.Word) {
	name := baseName(args[0])
	switch {
	case c.holds(args[0]):
		c.fault(call, "a value is the name of a command")
	case slices.Contains(takeCode, name) && slices.ContainsFunc(args[1:], c.holdsWord):
		c.fault(call, name+" reads a value as code")
	case slices.Contains(takeNames, name) && slices.ContainsFunc(args[1:], c.holdsWord):
		c.fault(call, name+" takes a value as the name of a variable")
	case name == "printf" && len(args) > 2 && literal(args[1]) == "-v" && c.holds(args[2]):
		c.fault(call, "printf takes a value as the name of a variable")
	case name == "printf" && len(args) > 1 && literal(args[1]) != "-v" && literal(args[1]) != "--" && c.holds(args[1]):
		c.fault(call, `printf reads a value as a format: printf '%s' "…"`)
	case (name == "test" || name == "[") && len(args) > 2 && (literal(args[1]) == "-v" || literal(args[1]) == "-R") && c.holds(args[2]):
		c.fault(call, name+" -v runs commands that a value contains")
	case IsInterpreter(name):
		c.interpreter(call, name, args[1:])
	case slices.Contains(programFirst, name):
		c.program(call, name, args[1:])
	}
}

// runsCode reports whether a program takes code, or the name of a file with code.
func runsCode(name string) bool {
	return IsInterpreter(name) || slices.Contains(programFirst, name) || slices.Contains(takeCode, name)
}

// unwrap drops sudo, env and the like. Their options may have values, so a shell or interpreter is
// looked for first.
func (c *checker) unwrap(args []*syntax.Word) []*syntax.Word {
	if len(args) < 2 || !slices.Contains(wrappers, baseName(args[0])) {
		return args
	}
	for i, arg := range args[1:] {
		if runsCode(baseName(arg)) {
			return args[i+1:]
		}
	}
	if next := slices.IndexFunc(args[1:], func(w *syntax.Word) bool { return !isOption(w) }); next >= 0 {
		return c.unwrap(args[next+1:])
	}
	return args
}

func isOption(w *syntax.Word) bool {
	text := prefix(w)
	return strings.HasPrefix(text, "-") || strings.Contains(text, "=") || strings.Trim(text, "0123456789smhd.") == "" && text != ""
}

// interpreter refuses a value after the option that takes code, or as the first argument.
func (c *checker) interpreter(call *syntax.CallExpr, name string, args []*syntax.Word) {
	for i, arg := range args {
		option := literal(arg)
		if slices.Contains(codeOptions, option) && i+1 < len(args) && c.holds(args[i+1]) {
			c.fault(call, name+" "+option+" reads a value as code")
		}
	}
	if first := slices.IndexFunc(args, func(w *syntax.Word) bool { return !strings.HasPrefix(literal(w), "-") }); first >= 0 && c.holds(args[first]) {
		if first == 0 || !slices.Contains(codeOptions, literal(args[first-1])) {
			c.fault(call, name+" runs the file that a value names")
		}
	}
}

// program refuses a value as the program of sed and the like.
func (c *checker) program(call *syntax.CallExpr, name string, args []*syntax.Word) {
	explicit := false
	for i, arg := range args {
		option := literal(arg)
		if (option == "-e" || option == "-f" || option == "--expression") && i+1 < len(args) {
			explicit = true
			if c.holds(args[i+1]) {
				c.fault(call, name+" reads a value as a program")
			}
		}
	}
	for i := 0; i < len(args) && !explicit; i++ {
		option := literal(args[i])
		if option == "--arg" || option == "--argjson" || option == "--slurpfile" || option == "--rawfile" {
			i += 2
			continue
		}
		if option == "-v" || option == "-F" {
			i++
			continue
		}
		if strings.HasPrefix(option, "-") && option != "-" {
			continue
		}
		if c.holds(args[i]) {
			c.fault(call, name+" reads a value as a program")
		}
		return
	}
}
