package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/process"
)

// announcer prints the addresses for the user, and when the agent is ready.
type announcer struct {
	out     io.Writer
	config  *config.Config
	process *process.Process
	notes   []string
	began   time.Time
	greeted bool
}

// tell is called with the problems, at first and when they change. The addresses are printed at
// once, because they help to find the cause of a problem.
func (a *announcer) tell(problems []string) {
	w := &strings.Builder{}
	switch {
	case len(problems) == 0:
		fmt.Fprintf(w, "%s is ready after %.1f s\n", a.config.Name, time.Since(a.began).Seconds())
	case a.greeted:
		fmt.Fprintf(w, "%s is not ready yet:\n", a.config.Name)
	default:
		fmt.Fprintf(w, "%s is up, but not ready yet:\n", a.config.Name)
	}
	for _, p := range problems {
		fmt.Fprintf(w, "  - %s\n", p)
	}
	if !a.greeted {
		a.greeted = true
		a.greet(w)
	}
	_, _ = io.WriteString(a.out, w.String()) // a closed output is not a reason to stop
}

// greet prints the addresses.
func (a *announcer) greet(w io.Writer) {
	p := a.process
	fmt.Fprintf(w, "\n  Page      %s/  (talk to the agent, and approve)\n", p.API)
	fmt.Fprintf(w, "  API       %s  (try it at %s/docs)\n", p.API, p.API)
	if p.UI != "" {
		fmt.Fprintf(w, "  Web UI    %s  (what waits: %s)\n", p.UI, approvalsURL(p.UI, p.Namespace))
	}
	fmt.Fprintf(w, "  Temporal  %s, namespace %s\n", p.Address, p.Namespace)
	fmt.Fprintf(w, "  Data      %s\n", a.config.DataDir)
	fmt.Fprintf(w, "  Model     %s\n", a.config.Model())
	for _, note := range a.notes {
		fmt.Fprintf(w, "            %s\n", note)
	}
	label := "Callers"
	for _, text := range callers(a.config.Auth) {
		fmt.Fprintf(w, "  %-9s %s\n", label, text)
		label = ""
	}
	fmt.Fprintf(w, "\nStop it with Ctrl-C. What waits for an approval goes on waiting.\n")
}

// callers says how callers prove who they are, if they have to.
func callers(ways []config.AuthWay) (texts []string) {
	for _, way := range ways {
		text := way.String()
		if way.Type == config.AuthKeys {
			text += "; 'agent keys add NAME' makes one"
		}
		texts = append(texts, text)
	}
	return texts
}
