package wording

import (
	"cmp"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

// TextPaused is the answer to a yes for a call that waits for a switch.
const TextPaused = "the call is paused: nobody can approve it past the switch; it goes on by itself after the resume (agent resume), or is rejected"

// DescribePaused describes a call that waits for a switch. request describes the call.
func DescribePaused(tool, request, why string) string {
	return fmt.Sprintf("**PAUSED: %s**\n\n%s\n\nThe call has not been made: %s. It goes on by itself after the resume. "+
		"Nobody can approve it before; reject to go on without it.", quotedName(tool), request, strings.TrimSuffix(why, "."))
}

// Resumed returns the reason in the record of a call that goes on.
const Resumed = "the pause is over"

// pausedMarker returns the message that records the end of a pause.
func pausedMarker(r contract.ApprovalResult) string {
	if r.Decision == contract.Approved {
		return "[PAUSE]: Resumed"
	}
	return "[PAUSE]: " + capital(string(r.Decision))
}

// ControlDetails returns the page of a Control in the Temporal Web UI.
func ControlDetails(s switches.State, problem string) string {
	var b strings.Builder
	b.WriteString(cmp.Or(switchList(s), "### No destructive call is paused\n"))
	b.WriteString("\nSignals `" + switches.SignalPause + "` and `" + switches.SignalResume + "` take `\"all\"`, `\"agent:NAME\"`, `\"server:NAME\"`, `\"tool:NAME\"`, " +
		"or `{\"what\":\"all\",\"reason\":\"…\",\"by\":\"YOUR NAME\"}`.\n")
	if problem != "" {
		fmt.Fprintf(&b, "\n**The last signal was ignored:** %s\n", plain(problem))
	}
	return b.String()
}

func switchList(s switches.State) string {
	if len(s.Switches) == 0 {
		return ""
	}
	lines := []string{"### Destructive calls are paused", ""}
	for _, w := range s.Switches {
		lines = append(lines, "- "+plain(w.Text()))
	}
	return strings.Join(lines, "\n") + "\n"
}
