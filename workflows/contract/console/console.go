// Package console writes what the commands shown to operators have in common.
package console

import (
	"regexp"
	"slices"
	"strings"
)

// Server is the one that an operator's commands are for.
type Server struct{ Address, Namespace string }

// The server that Temporal's CLI talks to unless it is told another.
var (
	usualAddresses = []string{"", "127.0.0.1:7233", "localhost:7233"}
	usualNamespace = "default"
)

// Flags are those by which Temporal's CLI finds the server, as a shell takes them: none
// for the one that it talks to by itself.
func (s Server) Flags() []string {
	var flags []string
	if !slices.Contains(usualAddresses, s.Address) {
		flags = append(flags, "--address "+shellWord(s.Address))
	}
	if s.Namespace != "" && s.Namespace != usualNamespace {
		flags = append(flags, "--namespace "+shellWord(s.Namespace))
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
