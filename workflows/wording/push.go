package wording

import (
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// PushDetails is the page of a task's push notifications in the Temporal Web UI. Queries of
// URLs are omitted, because they may contain secrets.
func PushDetails(s contract.PushCarried, problem string) string {
	var b strings.Builder
	b.WriteString("### " + pushStatus(s) + "\n")
	for _, t := range s.Targets {
		fmt.Fprintf(&b, "\n- `%s` (%s)", plainURL(t.Config.URL), t.Config.ID)
		if t.Delivered != nil {
			fmt.Fprintf(&b, "\n  - told `%s` at %s", t.Delivered.State, stamp(t.Delivered.At))
		}
		if t.Failed != nil {
			fmt.Fprintf(&b, "\n  - **not told** `%s`, given up at %s: %s", t.Failed.State, stamp(t.Failed.At), t.Failed.Why)
		}
		for _, i := range t.Queue {
			fmt.Fprintf(&b, "\n  - to be told `%s` since %s", i.State.State, stamp(i.Since))
		}
		b.WriteString("\n")
	}
	if problem != "" {
		fmt.Fprintf(&b, "\n**Trouble:** %s\n", problem)
	}
	return b.String()
}

func pushStatus(s contract.PushCarried) string {
	switch {
	case s.Gone:
		return "The task is over and tells nothing any more"
	case s.Last == nil:
		return "Nothing has been told yet"
	}
	return fmt.Sprintf("The task is %s since %s", s.Last.State, stamp(s.Last.At))
}

// plainURL removes possible secrets from a URL. Package url is not used because workflowcheck
// considers it non-deterministic.
func plainURL(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	host, path := hostOf(rest)
	return scheme + "://" + host + path
}

func hostOf(rest string) (host, path string) {
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host = rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	return host[strings.LastIndexByte(host, '@')+1:], path
}

// PushSummary is the line the Web UI shows for a notification.
func PushSummary(in contract.NotifyInput) string {
	_, rest, _ := strings.Cut(in.Config.URL, "://")
	host, _ := hostOf(rest)
	return fmt.Sprintf("%s to %s", in.State.State, host)
}
