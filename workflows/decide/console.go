package decide

import (
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Console is the server that an operator's commands are for.
type Console struct{ Address, Namespace string }

// The server that Temporal's CLI talks to unless it is told another.
var (
	usualAddresses = []string{"", "127.0.0.1:7233", "localhost:7233"}
	usualNamespace = "default"
)

// signal is the command that sends a decision, as a shell takes it. Its lines are
// short, so that they fit the Web UI's page.
func (c Console) signal(uuid, input string) string {
	lines := []string{"temporal workflow signal"}
	if !slices.Contains(usualAddresses, c.Address) {
		lines = append(lines, "--address "+shellWord(c.Address))
	}
	if c.Namespace != "" && c.Namespace != usualNamespace {
		lines = append(lines, "--namespace "+shellWord(c.Namespace))
	}
	lines = append(lines,
		"--workflow-id", "  "+contract.ApprovalWorkflowID(uuid), "--name "+contract.SignalDecide, "--input '"+input+"'")
	return "```sh\n" + strings.Join(lines, " \\\n  ") + "\n```\n"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9._:/@%+=-]+$`)

// shellWord is a word that a shell takes as it is.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// byShell is the member of an input that names who is logged in to the shell.
const byShell = `"by":"'"$USER"'"`
