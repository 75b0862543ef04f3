package hosting

import (
	"io"
	"log/slog"
	"os"
	"time"
)

// Options are [Settings] and what the program itself adds to them.
type Options struct {
	Settings
	Name     string       // of the server, for clients that are asked to log in
	Token    string       // bearer token callers over HTTP must show; "" for none
	Sessions SessionStore // nil: in memory. The caller closes what it opened.
	Log      *slog.Logger // nil: nothing is logged
	Details  []any        // more of the log line that says the server is up: key, value, …
	MaxBody  int64        // bytes of one HTTP request, or line of stdio; 0: 1 MiB
	// MaxSessions is how many sessions are kept; 0: 10,000. Beyond that those that
	// were silent for longest are forgotten first.
	MaxSessions int
	// WriteTimeout is how long a client may take to read 64 KiB of an answer;
	// 0: 30 s.
	WriteTimeout time.Duration
	Grace        time.Duration // for running calls at the end; 0: 5 s
	Stdin        io.Reader     // nil: the process's own
	Stdout       io.Writer     // nil: the process's own
}

func (o Options) withDefaults() Options {
	if o.Sessions == nil {
		o.Sessions = NewMemoryStore()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 20
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = 10_000
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 30 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.SessionIdle == 0 {
		o.SessionIdle = time.Hour
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	return o
}
