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
	// MaxLen is about how many entries the stream of a conversation keeps.
	MaxLen = 1000
	// Expiry is how long a stream is kept after its last entry.
	Expiry = 10 * time.Minute

	prefix  = "agent-stop-and-go:"
	timeout = 3 * time.Second
	// patience is how long Watch waits for a place.
	patience              = 250 * time.Millisecond
	leastPause, mostPause = 50 * time.Millisecond, 2 * time.Second
)

func streamOf(conversationID string) string { return prefix + "news:" + conversationID }

// link joins the watchers of this process to Redis.
type link struct {
	hub    *hub
	outbox *outbox
	health *health
	client *redis.Client
	wake   string // a stream of this process, which ends the wait of its reader

	ctx    context.Context
	cancel context.CancelFunc
	writer sync.WaitGroup
	reader sync.WaitGroup
}

// ErrURL does not show the URL, which may hold a password.
var ErrURL = errors.New("the address of Redis must be redis://host:port or rediss://host:port")

// byRedis starts a link. The library's own log, for the whole process, is turned off:
// it repeats every attempt.
func byRedis(url string, logger *slog.Logger) (*Feed, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, ErrURL
	}
	logging.Disable()
	tune(options)
	ctx, cancel := context.WithCancel(context.Background())
	l := &link{
		hub: newHub(), outbox: newOutbox(), client: redis.NewClient(options),
		health: newHealth(cmp.Or(logger, slog.Default()).With("feed", "redis"), options.Password),
		wake:   prefix + "wake:" + uuid.NewString(), ctx: ctx, cancel: cancel,
	}
	l.writer.Go(l.write)
	l.reader.Go(l.read)
	return &Feed{kind: KindRedis, hub: l.hub, link: l}, nil
}

// tune turns off what repeats commands: an entry must not be there twice.
func tune(o *redis.Options) {
	o.MaxRetries, o.DialerRetries, o.PoolSize = -1, 1, 4
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = timeout, timeout, timeout
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// await waits a little until news get to the room.
func (l *link) await(r *room, w *watcher) {
	select {
	case <-r.live:
		return
	default:
	}
	l.outbox.knock()
	if l.health.problem() == "" {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-r.live:
		case <-timer.C:
		case <-l.ctx.Done():
		}
	}
	l.hub.late(r, w)
}

// close lets the writer end, and interrupts the reader, which waits most of the time.
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

// pause reports whether there is more to do after a while.
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
