// Package lease keeps in Redis which one of several gateways does what only one shall do.
//
// The lease is a key that its holder renews. A holder that does not renew it in time, or cannot reach
// Redis, stops before another one can begin, as far as their clocks run alike. So for a moment
// nobody may hold it; two do only if a process stands still and goes on later.
package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"agent-stop-and-go/workflows/contract"
)

// prefix begins the names of all keys of the project.
const prefix = "agent-stop-and-go:"

// Lifetime is how long a lease holds that is not renewed.
const Lifetime = 15 * time.Second

const timeout = time.Second

// ErrURL does not contain the URL, which may hold a password.
var ErrURL = errors.New("the address of Redis must be redis://host:port or rediss://host:port")

// Lease is a lease in Redis, as one process sees it.
type Lease struct {
	client    *redis.Client
	key, name string
	lifetime  time.Duration
	logger    *slog.Logger
}

// Open returns the lease of an agent for a purpose. It does not wait for Redis. lifetime 0 is
// Lifetime.
func Open(url, agent, purpose string, lifetime time.Duration, logger *slog.Logger) (*Lease, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, ErrURL
	}
	if lifetime <= 0 {
		lifetime = Lifetime
	}
	o.MaxRetries, o.DialerRetries = -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = timeout, timeout, timeout
	o.ContextTimeoutEnabled, o.DisableIdentity = true, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &Lease{
		client: redis.NewClient(o), key: prefix + "lease:" + purpose + ":" + contract.Hash([]byte(agent))[:16],
		name: uuid.NewString(), lifetime: lifetime, logger: logger,
	}, nil
}

// take takes or renews the lease; release gives it back. Both are for the holder only.
var (
	take = redis.NewScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`)
	release = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`)
)

// Hold calls f whenever this process holds the lease, with a context that ends with the lease, until
// ctx ends. It waits for f, gives the lease back and closes the connections.
func (l *Lease) Hold(ctx context.Context, f func(context.Context)) {
	defer l.client.Close()
	failed := false
	for ctx.Err() == nil {
		asked := time.Now()
		held, err := l.take(ctx)
		if failed != (err != nil) && ctx.Err() == nil {
			if failed = err != nil; failed {
				l.logger.Warn("the lease is not there", "key", l.key, "error", err)
			}
		}
		if held {
			l.hold(ctx, asked, f)
		}
		pause(ctx, l.lifetime/3)
	}
}

// hold calls f and renews the lease meanwhile.
func (l *Lease) hold(ctx context.Context, since time.Time, f func(context.Context)) {
	held, end := context.WithCancel(ctx)
	defer end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(held)
	}()
	tick := time.NewTicker(l.lifetime / 5)
	defer tick.Stop()
	for {
		select {
		case <-done:
			l.giveBack(ctx)
			return
		case <-ctx.Done():
			<-done
			l.giveBack(ctx)
			return
		case <-tick.C:
		}
		asked := time.Now()
		ok, err := l.take(ctx)
		switch {
		case ok:
			since = asked
			continue
		case err == nil, time.Since(since) > l.lifetime*3/5: // another one has it, or may have it soon
			l.logger.Warn("the lease was lost", "key", l.key, "error", err)
			end()
			<-done
			return
		}
	}
}

func (l *Lease) take(ctx context.Context) (bool, error) {
	n, err := take.Run(ctx, l.client, []string{l.key}, l.name, l.lifetime.Milliseconds()).Int()
	if err != nil {
		return false, fault(err)
	}
	return n == 1, nil
}

func (l *Lease) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	_ = release.Run(ctx, l.client, []string{l.key}, l.name).Err() // it ends by itself soon
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// fault returns an error without what the server says: some repeat an unknown command with the
// password.
func fault(err error) error {
	var answered redis.Error
	if errors.As(err, &answered) {
		return errors.New("the Redis server does not do what it was asked")
	}
	return fmt.Errorf("ask Redis: %w", err)
}
