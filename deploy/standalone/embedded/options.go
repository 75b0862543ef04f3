package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/grpc"
)

const (
	defaultNamespace = "default"
	defaultShards    = 4
	defaultRetention = 30 * 24 * time.Hour
	minRetention     = time.Hour // minimum of the server
)

// Options configure the data, the ports and the namespace of the server. Only DataDir or
// Database is required.
type Options struct {
	// DataDir has the SQLite database. It is created if it is missing. One process at a time may
	// use it.
	DataDir string
	// Database is the URL of a PostgreSQL database, instead of DataDir: see package postgres.
	Database string
	// Shards is how many groups of workflows a new PostgreSQL database has, each of which writes
	// one thing at a time. 0 means 4. It cannot be changed later.
	Shards int32
	// Host is the IP address of the frontend and the Web UI. Empty means 127.0.0.1. The server
	// has no login: whoever reaches another address can do everything.
	Host string
	// Namespace is created if it is missing. Empty means "default".
	Namespace string
	// Port of the gRPC frontend. 0 picks a free one, for tests.
	Port int
	// UIPort of the Web UI. 0 turns it off, -1 picks a free one.
	UIPort int
	// AllowedHosts are host names of the Web UI besides those of loopback.
	AllowedHosts []string
	// Codec is the URL of the endpoint at which pages of the Web UI decrypt, with the cookies of
	// the person's browser. Empty means none.
	Codec string
	// Retention of closed workflows, applied at every start, also to a namespace that exists. 0 means 30 days.
	Retention time.Duration
	// SearchAttributes are added where missing, at every start. One that exists with another type is an error.
	SearchAttributes map[string]enumspb.IndexedValueType
	// Intercept is called for every request to the frontend, of any client, after the server has
	// checked it. It may be nil.
	Intercept grpc.UnaryServerInterceptor
	// LongHistory is the number of events at which the server suggests that a workflow
	// continues as new. 0 means the server's default of 4096; tests set it low.
	LongHistory int
	// Logger gets the warnings and errors of the server. Nil means slog.Default().
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.DataDir == "" && o.Database == "":
		return o, errors.New("start temporal: no data directory given, and no database")
	case o.DataDir != "" && o.Database != "":
		return o, errors.New("start temporal: a data directory and a database given: the data is in one of them")
	}
	o.Shards = cmp.Or(o.Shards, defaultShards)
	o.Host = cmp.Or(o.Host, loopback)
	if _, err := netip.ParseAddr(o.Host); err != nil {
		return o, fmt.Errorf("start temporal: %q is not an IP address to listen on", o.Host)
	}
	o.Namespace = cmp.Or(o.Namespace, defaultNamespace)
	o.Retention = cmp.Or(o.Retention, defaultRetention)
	if o.Retention < minRetention {
		return o, fmt.Errorf("start temporal: retention %s is below the minimum of %s", o.Retention, minRetention)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}
