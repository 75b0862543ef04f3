package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/telemetry"
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
	// Intercept are called for every call to the Temporal server.
	Intercept []grpc.UnaryClientInterceptor
	// Metrics records what the Temporal SDK measures; it may be nil.
	Metrics client.MetricsHandler
}

// Platform is usable until Close.
type Platform struct {
	Client    client.Client
	Address   string
	Namespace string
	Blobs     *blobstore.Store
	Keyring   *credential.Keyring
	Codec     *encryption.Codec // nil if nothing is encrypted
	Feed      *feed.Feed

	unobserve func() // the feed
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
func Open(ctx context.Context, c *config.Config, o Options) (*Platform, error) {
	clustered := o.Embedded == ""
	if clustered && !External(c, o.Getenv) {
		return nil, ErrNoServer
	}
	p := &Platform{}
	var err error
	if p.Keyring, err = keyring.Open(c.DataDir, o.Getenv, clustered); err != nil {
		return nil, err
	}
	if p.Codec, err = c.Encryption.Open(o.Getenv); err != nil {
		return nil, err
	}
	if p.Blobs, err = blobstore.Open(ctx, c.BlobURL()); err != nil {
		return nil, err
	}
	p.Blobs.Encrypt(p.Codec)
	if err := p.dial(ctx, c, o, clustered); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := p.openFeed(c, o); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Platform) openFeed(c *config.Config, o Options) error {
	url, err := c.Events.RedisURL(o.Getenv)
	if err != nil {
		return err
	}
	p.Feed, err = feed.Open(feed.Options{Redis: url, OneProcess: o.OneProcess, Logger: o.Logger})
	if err != nil {
		return fmt.Errorf("events.redis: %w", err)
	}
	p.unobserve = telemetry.ObserveFeed(p.Feed.Carrier)
	return nil
}

func (p *Platform) dial(ctx context.Context, c *config.Config, o Options, clustered bool) error {
	options := connect.Options{
		Address: c.Temporal.Address, Namespace: c.Temporal.Namespace, Logger: o.Logger, Propagators: append(slices.Clone(o.Propagators), telemetry.Propagator()),
		Intercept: o.Intercept, Codec: p.Codec, Metrics: o.Metrics,
	}
	if !clustered {
		options.Address, options.Embedded = o.Embedded, true
	}
	dialled, settings, err := connect.Dial(ctx, options)
	if err != nil {
		return err
	}
	p.Client, p.Address, p.Namespace = dialled, settings.HostPort, settings.Namespace
	if clustered {
		return connect.WhenUp(ctx, options, p.Address, func(ctx context.Context) error {
			return connect.EnsureSearchAttributes(ctx, dialled, settings.Namespace)
		})
	}
	return nil
}

// Close closes all parts.
func (p *Platform) Close() error {
	var err error
	if p.Feed != nil {
		p.unobserve()
		err = p.Feed.Close()
	}
	if p.Client != nil {
		p.Client.Close()
	}
	return errors.Join(err, p.Blobs.Close())
}
