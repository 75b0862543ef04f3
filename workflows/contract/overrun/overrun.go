// Package overrun checks that the calls of a model's reply fit into history.
package overrun

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
)

// Of says in what a reply with these calls asks for too much, or returns "". name returns the name
// of the tool that is called.
func Of[C any](calls []C, name func(C) string) string {
	if len(calls) > contract.MaxCalls {
		return fmt.Sprintf("the reply asks for %d calls: the limit is %d", len(calls), contract.MaxCalls)
	}
	for _, c := range calls {
		if n := len(name(c)); n > contract.MaxToolName {
			return fmt.Sprintf("the name of a called tool has %d bytes: the limit is %d", n, contract.MaxToolName)
		}
	}
	return ""
}
