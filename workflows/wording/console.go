package wording

import (
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/console"
)

// Console is the Temporal server in an operator's commands.
type Console = console.Server

// signalCommand returns the shell command that sends a decision, in short lines that fit the
// Web UI's page.
func signalCommand(c Console, uuid, input string) string {
	lines := append([]string{"temporal workflow signal"}, c.Flags()...)
	lines = append(lines,
		"--workflow-id", "  "+contract.ApprovalWorkflowID(uuid), "--name "+contract.SignalDecide, "--input '"+input+"'")
	return "```sh\n" + strings.Join(lines, " \\\n  ") + "\n```\n"
}

// byShell is the member of an input with the user of the shell.
const byShell = `"by":"'"$USER"'"`
