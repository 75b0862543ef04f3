// Package console writes what the commands shown to operators have in common.
package console

import (
	"regexp"
	"slices"
	"strings"
)

// Server is the Temporal server that the commands are for.
type Server struct{ Address, Namespace string }

// The defaults of Temporal's CLI.
var (
	usualAddresses = []string{"", "127.0.0.1:7233", "localhost:7233"}
	usualNamespace = "default"
)

// Flags returns the flags with which Temporal's CLI connects to the server, quoted for a shell.
// Defaults are omitted.
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

// shellWord quotes a word for a shell.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
