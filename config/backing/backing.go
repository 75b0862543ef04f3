// Package backing opens what every process stands on: the Temporal client, the
// blob store, the keyring and the feed that a configuration and the environment name.
package backing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/workflows/credential"
)

// Options are what is needed besides the configuration.
type Options struct {
	// Embedded is the address of a Temporal server in this process. Empty means
	// that of an existing server, from the YAML file or the environment.
	Embedded string
	// OneProcess: a worker and a gateway of this process share the feed, which needs
	// no Redis then.
	OneProcess  bool
	Getenv      func(string) string
	Logger      *slog.Logger
	Propagators []workflow.ContextPropagator
	// Intercept see every call to the Temporal server.
	Intercept []grpc.UnaryClientInterceptor
}

// Backing is open until Close.
type Backing struct {
	Client    client.Client
	Address   string
	Namespace string
	Blobs     *blobstore.Store
	Keyring   *credential.Keyring
	Feed      *feed.Feed
}

// External reports whether an existing Temporal server is configured.
func External(c *config.Config, getenv func(string) string) bool {
	return c.Temporal.Address != "" || getenv(connect.AddressVariable) != ""
}

// ErrNoServer means that no Temporal server is configured.
var ErrNoServer = errors.New("no Temporal server: set " + connect.AddressVariable +
	", or temporal.address in the YAML, to the host:port of one")

// Open opens everything, or nothing. With a server of its own a process makes
// its own key; one of several must be given theirs.
func Open(ctx context.Context, c *config.Config, o Options) (*Backing, error) {
	clustered := o.Embedded == ""
	if clustered && !External(c, o.Getenv) {
		return nil, ErrNoServer
	}
	b := &Backing{}
	var err error
	if b.Keyring, err = c.Keyring(o.Getenv, clustered); err != nil {
		return nil, err
	}
	if b.Blobs, err = blobstore.Open(ctx, c.BlobURL()); err != nil {
		return nil, err
	}
	if err := b.dial(ctx, c, o, clustered); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if err := b.carry(c, o); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Backing) carry(c *config.Config, o Options) error {
	url, err := c.Events.RedisURL(o.Getenv)
	if err != nil {
		return err
	}
	b.Feed, err = feed.Open(feed.Options{Redis: url, OneProcess: o.OneProcess, Logger: o.Logger})
	if err != nil {
		return fmt.Errorf("events.redis: %w", err)
	}
	return nil
}

func (b *Backing) dial(ctx context.Context, c *config.Config, o Options, clustered bool) error {
	options := connect.Options{
		Address: c.Temporal.Address, Namespace: c.Temporal.Namespace, Logger: o.Logger, Propagators: o.Propagators,
		Intercept: o.Intercept,
	}
	if !clustered {
		options.Address, options.Embedded = o.Embedded, true
	}
	dialled, settings, err := connect.Dial(ctx, options)
	if err != nil {
		return err
	}
	b.Client, b.Address, b.Namespace = dialled, settings.HostPort, settings.Namespace
	if clustered {
		return connect.WhenUp(ctx, options, b.Address, func(ctx context.Context) error {
			return connect.EnsureSearchAttributes(ctx, dialled, settings.Namespace)
		})
	}
	return nil
}

// Close gives everything back.
func (b *Backing) Close() error {
	var err error
	if b.Feed != nil {
		err = b.Feed.Close()
	}
	if b.Client != nil {
		b.Client.Close()
	}
	return errors.Join(err, b.Blobs.Close())
}
