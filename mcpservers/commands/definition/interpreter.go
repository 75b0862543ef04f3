package definition

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"agent-stop-and-go/mcpservers/commands/script"
)

var (
	// remotes join their arguments and give them to a shell.
	remotes = regexp.MustCompile(`^(ssh|su|runuser|rsh|mosh|watch|parallel|script)$`)
	streams = regexp.MustCompile(`^(sed|gsed|awk|gawk|mawk|nawk)$`)

	// flags are options without a value. What follows others may be a value and not the program.
	streamFlags      = regexp.MustCompile(`^-[nErisuz]+$`)
	interpreterFlags = regexp.MustCompile(`^-[xuvnl]+$`)
)

// words returns the elements one by one, and their places in command.
func (t *Tool) words() (words []script.Word, places []int) {
	for i, e := range t.Command {
		group := e.Group
		if group == nil {
			group = []string{e.Text}
		}
		for _, text := range group {
			name, is, _ := t.reference(text)
			w := script.Word{Text: text, Optional: e.Group != nil}
			if is {
				p := t.Parameters.Get(name)
				if p.IsBool() && e.Group != nil {
					continue // only a condition
				}
				k := p.kind()
				w.Text, w.Name, w.Value, w.Optional = "", name, !t.constrained(name), w.Optional || p.IsList()
				w.Fixed = k == integer || k == number
			}
			words, places = append(words, w), append(places, i)
		}
	}
	return words, places
}

// constrained reports whether all values of an argument were written by the author, or are numbers.
func (t *Tool) constrained(name string) bool {
	k := t.Parameters.Get(name).kind()
	return k != text && k != texts
}

// guard is the place of the "--" behind which no program takes a value as an option, 0 if there is
// none. The one of sudo -- PROGRAM is not for PROGRAM, and find takes what begins with "-" behind it too.
func (t *Tool) guard() int {
	words, places := t.words()
	started := script.Launch(words)
	if filepath.Base(t.Command[0].Text) == "find" && started.From == len(words) {
		return 0
	}
	for i, w := range words {
		if w.Text == "--" && !w.Optional && i > started.Program {
			return places[i]
		}
	}
	return 0
}

// checkCode reports arguments that would be a program, or that a program would read as code.
func (t *Tool) checkCode() (errs []error) {
	words, _ := t.words()
	started := script.Launch(words)
	if started.Value >= 0 {
		errs = append(errs, fmt.Errorf("the argument %s could become the program that %s starts: write that program as a literal before it", words[started.Value].Name, filepath.Base(words[0].Text)))
	}
	for i, w := range words {
		if i > 0 && i < started.From || w.Text == "" {
			continue
		}
		if at := readsAsCode(words, i); at >= 0 {
			errs = append(errs, fmt.Errorf("%s would read the argument %s as code, a file to run or an option: use a shell-script, or a file of your own with -- behind it", filepath.Base(w.Text), words[at].Name))
		}
	}
	for i := range words {
		words[i].Value = words[i].Text == "" // choices and numbers are no code either
	}
	if at := script.Code(words); at >= 0 {
		errs = append(errs, fmt.Errorf("the argument %s is code here, and an argument must not be code: use a shell-script", words[at].Name))
	}
	return errs
}

// readsAsCode returns the first argument that the program at a place would read as code, -1 if there
// is none or the program is no interpreter.
func readsAsCode(words []script.Word, at int) int {
	name := filepath.Base(words[at].Text)
	remote, stream := remotes.MatchString(name), streams.MatchString(name)
	if !remote && !stream && !script.IsInterpreter(name) {
		return -1
	}
	flags := interpreterFlags
	if stream {
		flags = streamFlags
	}
	program, guarded, optionBefore := false, false, false
	for i := at + 1; i < len(words); i++ {
		w, before := words[i], words[i-1].Text
		switch {
		case w.Value:
			optionValue := !guarded && strings.HasPrefix(before, "-")
			if remote || !program || !stream && !guarded || optionValue {
				return i
			}
			optionBefore = false
		case w.Text == "--" && !w.Optional:
			guarded, optionBefore = true, false
		case !guarded && strings.HasPrefix(w.Text, "-"):
			optionBefore = !flags.MatchString(w.Text) && !strings.Contains(w.Text, "=")
		default:
			literal := w.Text != "" && !w.Optional && !subcommand(name, w.Text)
			program = program || literal && (!optionBefore || programOption(name, before))
			optionBefore = false
		}
	}
	return -1
}

// subcommand reports words of deno and bun before the file that they run.
func subcommand(name, word string) bool {
	return (name == "deno" || name == "bun") && (word == "run" || word == "x" || word == "eval" || word == "exec")
}

// programOption reports options whose value is the program, or its file. The same letter is something else for
// others: php -c and deno -c name a configuration.
func programOption(name, option string) bool {
	python, shell := strings.HasPrefix(name, "python"), strings.HasSuffix(name, "sh") && name != "pwsh"
	cluster := len(option) > 1 && option[0] == '-' && option[1] != '-'
	switch {
	case option == "-m":
		return python
	case cluster && strings.HasSuffix(option, "c"):
		return python || shell
	case cluster && strings.HasSuffix(option, "e"):
		return !python && !strings.HasPrefix(name, "php")
	case option == "-r":
		return strings.HasPrefix(name, "php")
	}
	return option == "-f" || option == "--eval" || option == "--expression" || option == "--file"
}
