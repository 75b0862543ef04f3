// Package overrun checks that the calls of a model's reply fit into history.
package overrun

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
)

// Of says in what a reply that calls tools of these names asks for too much, or returns "".
func Of(names []string) string {
	if len(names) > contract.MaxCalls {
		return fmt.Sprintf("the reply asks for %d calls: the limit is %d", len(names), contract.MaxCalls)
	}
	for _, name := range names {
		if len(name) > contract.MaxToolName {
			return fmt.Sprintf("the name of a called tool has %d bytes: the limit is %d", len(name), contract.MaxToolName)
		}
	}
	return ""
}
