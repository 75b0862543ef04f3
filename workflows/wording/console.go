package wording

import (
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/console"
)

// Console is the server that an operator's commands are for.
type Console = console.Server

// signalCommand is the command that sends a decision, as a shell takes it. Its lines are
// short, so that they fit the Web UI's page.
func signalCommand(c Console, uuid, input string) string {
	lines := append([]string{"temporal workflow signal"}, c.Flags()...)
	lines = append(lines,
		"--workflow-id", "  "+contract.ApprovalWorkflowID(uuid), "--name "+contract.SignalDecide, "--input '"+input+"'")
	return "```sh\n" + strings.Join(lines, " \\\n  ") + "\n```\n"
}

// byShell is the member of an input that names who is logged in to the shell.
const byShell = `"by":"'"$USER"'"`
