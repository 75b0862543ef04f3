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

// Options are the inputs besides the configuration.
type Options struct {
	// Embedded is the address of a Temporal server in this process. If it is empty, an
	// existing server is used, from the YAML file or the environment.
	Embedded string
	// OneProcess: worker and gateway run in this process and share a feed without Redis.
	OneProcess  bool
	Getenv      func(string) string
	Logger      *slog.Logger
	Propagators []workflow.ContextPropagator
	// Intercept is called for every call to the Temporal server. It may be nil.
	Intercept grpc.UnaryClientInterceptor
}

// Backing is usable until Close.
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

// Open opens all parts, or fails and opens none. A process with an embedded server generates
// a key if there is none; with an existing server the keys must be configured.
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

// Close closes all parts.
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
