package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config/command"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/logging"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/deploy/standalone/process"
	"agent-stop-and-go/workflows/contract/duration"
)

const aboutTemporal = `Run a Temporal server on PostgreSQL, with its Web UI, for workers and gateways in processes of
their own. All four services of Temporal run in this one process.

Two databases are used, and created if the user may do that: the one that --db names, and
NAME_visibility. Their schemas are migrated at the start; back up both before an upgrade. A
second server with the same databases waits until the first one has gone, and then takes over.

The server has no login. On another address than 127.0.0.1, let only workers, gateways and
operators reach it.

Environment:
  AGENT_TEMPORAL_DB       what --db says
  PGPASSWORD, PGPASSFILE  the password, or a file with it, and the other variables of libpq;
                          ?passfile=FILE in the URL does the same
  LOG_LEVEL, LOG_FORMAT   debug, info, warn or error; text or json
  NAME_FILE               a file with the value of NAME, for each of these
`

func newTemporal(getenv func(string) string) *cobra.Command {
	o := embedded.Options{SearchAttributes: connect.SearchAttributes()}
	cmd := &cobra.Command{
		Use:     "temporal --db URL",
		Short:   "Run a Temporal server on PostgreSQL for workers and gateways",
		Long:    aboutTemporal,
		Example: `  agent temporal --db postgres://temporal@127.0.0.1/temporal`,
		GroupID: groupServe,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveTemporal(cmd, o, getenv)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Database, "db", getenv("AGENT_TEMPORAL_DB"), "the `URL` of the database: postgres://USER@HOST/NAME")
	flags.StringVar(&o.Host, "host", "127.0.0.1", "the `IP` address to listen on")
	flags.IntVar(&o.Port, "port", 7233, "the `port` of Temporal")
	flags.IntVar(&o.UIPort, "ui-port", 8233, "the `port` of the Web UI; 0 turns it off")
	flags.StringSliceVar(&o.AllowedHosts, "allowed-host", nil, "a `name` of the Web UI besides those of this machine")
	flags.StringVar(&o.Codec, "codec-endpoint", "", "the `URL` at which the Web UI decrypts: https://GATEWAY/codec, whose encryption.web_ui lists this Web UI")
	flags.StringVar(&o.Namespace, "namespace", "default", "the `namespace`, which is created if it is missing")
	o.Retention = 30 * 24 * time.Hour
	flags.Var((*duration.Value)(&o.Retention), "retention", "how long closed conversations are kept, such as 90d or 12w")
	flags.Int32Var(&o.Shards, "shards", 0, "for new databases: how many groups of workflows write at the same time (default 4); it cannot be changed")
	return cmd
}

func serveTemporal(cmd *cobra.Command, o embedded.Options, getenv func(string) string) error {
	logger, err := logging.New(cmd.ErrOrStderr(), getenv)
	if err != nil {
		return err
	}
	if o.Database == "" {
		return errors.New("no database: give --db postgres://USER@HOST/NAME, or set AGENT_TEMPORAL_DB")
	}
	o.Logger, o.Database = logger, withPassword(o.Database, getenv("PGPASSWORD"))
	defer process.LimitMemory(getenv)()
	ctx := cmd.Context()
	server, err := embedded.Start(ctx, o)
	if err != nil {
		return command.Stopped(ctx, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "temporal is ready\n\n  Temporal  %s, namespace %s\n  Web UI    %s\n", server.Address(), o.Namespace, webUI(server))
	return errors.Join(lasts(ctx, server), server.Stop())
}

// withPassword adds a password to a URL that has none. The variable may be in a file, of which
// the driver of PostgreSQL knows nothing.
func withPassword(address, password string) string {
	u, err := url.Parse(address)
	if err != nil || password == "" || u.User == nil {
		return address // the driver says what is wrong with it
	}
	if _, has := u.User.Password(); !has {
		u.User = url.UserPassword(u.User.Username(), password)
	}
	return u.String()
}

func webUI(server *embedded.Server) string {
	if server.UIAddress() == "" {
		return "off"
	}
	return server.UIAddress()
}

// lasts returns when ctx ends, or with an error when the server is of no use any more.
func lasts(ctx context.Context, server *embedded.Server) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Lost():
		return err
	}
}
