package hosting

import (
	"io"
	"log/slog"
	"os"
	"time"

	"agent-stop-and-go/mcpservers/hosting/auth"
)

// Options are [Settings] and the options of the program itself.
type Options struct {
	Settings
	Name  string // name of the server, for the authentication challenge
	Token string // bearer token required over HTTP; "" for none
	// Guard says who may call over HTTP. nil: Run makes it from Settings, NewHTTP has none.
	Guard *auth.Guard
	// Open lets everybody call off loopback, with a warning, if no setting says who may.
	Open     bool
	Sessions SessionStore // nil: in memory. The caller closes a store that it passes.
	Log      *slog.Logger // nil: no log
	Details  []any        // additional attributes of the log line at start: key, value, …
	MaxBody  int64        // maximum size of an HTTP request, or of a line of stdio; 0: 1 MiB
	// MaxSessions is the maximum number of sessions; 0: 10,000. Beyond it the sessions that
	// were idle for longest are deleted.
	MaxSessions int
	// WriteTimeout is the time in which a client must read 64 KiB of a response; 0: 30 s.
	WriteTimeout time.Duration
	Grace        time.Duration // time for running calls at shutdown; 0: 5 s
	Stdin        io.Reader     // nil: that of the process
	Stdout       io.Writer     // nil: that of the process
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
		o.SessionIdle = Span(time.Hour)
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	return o
}
