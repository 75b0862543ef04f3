package script

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Word is an element of what a program gets, the name of the program first.
type Word struct {
	Text     string // "" if it is not a literal
	Name     string // of an argument
	Value    bool   // callers choose it freely
	Fixed    bool   // it is neither a literal nor chosen by callers, such as a number
	Optional bool   // it may be left out, or be several
}

// launcher is a program that starts another one, which stands among its operands.
type launcher struct {
	operands int    // up to and with the program: 2 for timeout TIME PROGRAM
	behind   string // the words before them, such as exec for docker; empty: the launcher itself
	flags    string // options without a value; after others a word may be their value
	target   bool   // a value may be the first operand, because that is no program: a container
}

const (
	containerFlags = "-i -t -it -ti -d -T --rm --interactive --tty --stdin --detach --init --privileged --no-deps"
	sudoFlags      = "-n -E -H -S -b -k -i -s --non-interactive --preserve-env --login"
)

var launchers = map[string]launcher{
	"env": {operands: 1, flags: "-i - -0 -v --ignore-environment"}, "sudo": {operands: 1, flags: sudoFlags}, "doas": {operands: 1, flags: "-n -s"},
	"nice": {operands: 1}, "ionice": {operands: 1, flags: "-t"}, "nohup": {operands: 1}, "setsid": {operands: 1, flags: "-c -f -w --wait --fork --ctty"},
	"stdbuf": {operands: 1}, "time": {operands: 1, flags: "-p -v"}, "timeout": {operands: 2, flags: "-v -f --preserve-status --foreground --verbose"},
	"xargs": {operands: 1, flags: "-0 -r -t -x --null --no-run-if-empty"}, "busybox": {operands: 1}, "npx": {operands: 1, flags: "-y --yes --no --no-install -q"},
	"bunx": {operands: 1}, "uvx": {operands: 1, flags: "-q"}, "chroot": {operands: 2}, "flock": {operands: 2, flags: "-n -x -e -s -o -u --nonblock --exclusive --shared"},
	"chrt": {operands: 2, flags: "-f -r -b -i -o -d"}, "taskset": {operands: 2, flags: "-a"}, "unshare": {operands: 1}, "nsenter": {operands: 1}, "setpriv": {operands: 1},
	"strace": {operands: 1, flags: "-f -c -q"}, "ltrace": {operands: 1, flags: "-f -c"}, "systemd-run": {operands: 1, flags: "--user --scope --pipe --wait --quiet"},
	"sshpass": {operands: 1, flags: "-e"}, "fakeroot": {operands: 1}, "entr": {operands: 1}, "command": {operands: 1}, "builtin": {operands: 1}, "exec": {operands: 1},
	"find": {operands: 1, behind: "-exec -execdir -ok -okdir"}, "fd": {operands: 1, behind: "-x -X --exec --exec-batch"},
	"docker": containers, "podman": containers, "nerdctl": containers, "docker-compose": containers, "lxc": containers,
	"kubectl": containers, "oc": containers, "uv": {operands: 1, behind: "run"},
}

var containers = launcher{operands: 2, behind: "exec run debug", flags: containerFlags, target: true}

// Launched is what [Launch] finds.
type Launched struct {
	From    int // from here on a word may be the program that is started; as many as there are words if nothing is
	Program int // the last word that surely is a program
	Value   int // a value that may become the program; -1 if there is none
}

// Launch follows programs that start others, such as sudo timeout 5 PROGRAM and docker exec CONTAINER
// PROGRAM. What could be the value of an option is not counted as a program.
func Launch(words []Word) Launched {
	found := Launched{From: len(words), Value: -1}
	for at, w := range words {
		l, is := launchers[path.Base(w.Text)]
		if !is || at > 0 && at < found.From {
			continue
		}
		for start := at + 1; start <= len(words); start++ {
			if l.behind != "" && !oneOf(l.behind, words[start-1].Text) {
				continue
			}
			found.From = min(found.From, start)
			program, value := l.follow(words, start)
			found.Program = max(found.Program, program)
			if value >= 0 && found.Value < 0 {
				found.Value = value
			}
			if l.behind == "" || l.target {
				break
			}
		}
	}
	return found
}

// follow counts the operands from start on: sure without those that may be values of options, possible
// with them.
func (l launcher) follow(words []Word, start int) (program, value int) {
	sure, possible, optionBefore, options := 0, 0, false, true
	image := l.target && words[start-1].Text == "run"
	for i := start; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Value && (!l.target || image || possible > 0):
			return 0, i
		case w.Text == "--":
			options, optionBefore = false, false
			continue
		case options && strings.HasPrefix(w.Text, "-"):
			optionBefore = !oneOf(l.flags, w.Text) && !strings.Contains(w.Text, "=")
			continue
		case l.operands == 1 && strings.Contains(w.Text, "="): // a variable for env or sudo
			optionBefore = false
			continue
		}
		possible++
		counts := w.Text != "" || w.Fixed || w.Value // a value that is left here names a container
		if counts && !optionBefore && !w.Optional {
			sure++
		}
		optionBefore = false
		if sure == l.operands {
			return i, -1
		}
	}
	return 0, -1
}

func oneOf(list, word string) bool { return word != "" && slices.Contains(strings.Fields(list), word) }

var (
	shellName  = regexp.MustCompile(`^(((ba|da|z|k|fi|a|c|tc)?sh|su|runuser|node|nodejs|deno|bun|pwsh|tclsh|osascript)|(python|perl|ruby|php|lua)[0-9.]*)$`)
	codeOption = regexp.MustCompile(`^(-[A-Za-z]*[ceE]|-r|-p|--eval|--print|--command|--run|-[Cc]ommand|-EncodedCommand)$`)
)

// IsInterpreter reports whether a program, by its name without folders, is a shell or an interpreter.
func IsInterpreter(name string) bool { return shellName.MatchString(name) }

// Code returns the index of a value that a shell or interpreter takes as code, such as that after sh -c,
// wherever the shell stands; -1 if there is none.
func Code(words []Word) int {
	for at, w := range words {
		if w.Text == "" || !IsInterpreter(path.Base(w.Text)) {
			continue
		}
		optionBefore := false
		for i := at + 1; i < len(words); i++ {
			option := strings.HasPrefix(words[i].Text, "-")
			if words[i].Value && optionBefore && codeOption.MatchString(words[i-1].Text) {
				return i
			}
			if !option && !optionBefore || words[i].Text == "" {
				break
			}
			optionBefore = option
		}
	}
	return -1
}
