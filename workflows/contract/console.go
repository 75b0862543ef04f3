package contract

import (
	"regexp"
	"slices"
	"strings"
)

// Console is the server that an operator's commands are for.
type Console struct{ Address, Namespace string }

// The server that Temporal's CLI talks to unless it is told another.
var (
	usualAddresses = []string{"", "127.0.0.1:7233", "localhost:7233"}
	usualNamespace = "default"
)

// Flags are those by which Temporal's CLI finds the server, as a shell takes them: none
// for the one that it talks to by itself.
func (c Console) Flags() []string {
	var flags []string
	if !slices.Contains(usualAddresses, c.Address) {
		flags = append(flags, "--address "+shellWord(c.Address))
	}
	if c.Namespace != "" && c.Namespace != usualNamespace {
		flags = append(flags, "--namespace "+shellWord(c.Namespace))
	}
	return flags
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/@%+=-]+$`)

// shellWord is a word that a shell takes as it is.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
