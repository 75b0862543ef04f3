package feed

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// MaxLen is the approximate number of entries that the stream of a conversation keeps.
	MaxLen = 1000
	// Expiry is how long a stream is kept after its last entry.
	Expiry = 10 * time.Minute

	prefix  = "agent-stop-and-go:"
	timeout = 3 * time.Second
	// readyTimeout is how long Subscribe waits until the subscription is ready.
	readyTimeout          = 250 * time.Millisecond
	leastPause, mostPause = 50 * time.Millisecond, 2 * time.Second
)

func streamOf(conversationID string) string { return prefix + "news:" + conversationID }

// link connects the subscribers and publishers of this process to Redis.
type link struct {
	hub        *hub
	outbox     *outbox
	health     *health
	client     *redis.Client
	wakeStream string // a stream of this process; an entry in it wakes its reader

	ctx    context.Context
	cancel context.CancelFunc
	writer sync.WaitGroup
	reader sync.WaitGroup
}

// ErrURL does not contain the URL, which may hold a password.
var ErrURL = errors.New("the address of Redis must be redis://host:port or rediss://host:port")

// openRedis starts a link. It turns off the library's log for the whole process, because that
// repeats every attempt.
func openRedis(url string, logger *slog.Logger) (*Feed, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, ErrURL
	}
	logging.Disable()
	tune(options)
	ctx, cancel := context.WithCancel(context.Background())
	l := &link{
		hub: newHub(), outbox: newOutbox(), client: redis.NewClient(options),
		health:     newHealth(cmp.Or(logger, slog.Default()).With("feed", "redis"), options.Password),
		wakeStream: prefix + "wake:" + uuid.NewString(), ctx: ctx, cancel: cancel,
	}
	l.writer.Go(l.write)
	l.reader.Go(l.read)
	return &Feed{kind: KindRedis, hub: l.hub, link: l}, nil
}

// tune turns off retries of commands, because they could add an entry twice.
func tune(o *redis.Options) {
	o.MaxRetries, o.DialerRetries, o.PoolSize = -1, 1, 4
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = timeout, timeout, timeout
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// awaitReady waits a little until events arrive at the topic.
func (l *link) awaitReady(r *topic, w *subscriber) {
	select {
	case <-r.ready:
		return
	default:
	}
	l.outbox.requestWake()
	if l.health.problem() == "" {
		timer := time.NewTimer(readyTimeout)
		defer timer.Stop()
		select {
		case <-r.ready:
		case <-timer.C:
		case <-l.ctx.Done():
		}
	}
	l.hub.markLate(r, w)
}

// close sends the queued entries and interrupts the reader.
func (l *link) close() error {
	l.cancel()
	l.writer.Wait()
	err := l.client.Close()
	l.reader.Wait()
	if errors.Is(err, redis.ErrClosed) {
		return nil
	}
	return err
}

// pause reports whether the link is still open after a time.
func (l *link) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.ctx.Done():
		return false
	}
}
