package service

import (
	"context"
	"io/fs"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// DefaultRequestTimeout is how long a request waits for its answer.
const DefaultRequestTimeout = 60 * time.Second

// Options are what a Service needs.
type Options struct {
	Backend Backend
	// Agent is what new conversations run by.
	Agent contract.Agent
	Blobs transcript.Store
	// Exports has the files that workers export conversations to. They are shown while no
	// worker answers; nil is none.
	Exports fs.FS
	// Room fails as a write does when the disk of the Temporal server is full. It is nil
	// where the server is another process, whose disk is not known.
	Room func(context.Context) error
	// Keyring seals bearer tokens. Without one they are dropped.
	Keyring *credential.Keyring
	// Logger is slog.Default when nil.
	Logger *slog.Logger
	// RequestTimeout is DefaultRequestTimeout when zero.
	RequestTimeout time.Duration
	// Now is time.Now when nil.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = DefaultRequestTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Service starts, addresses, reads and decides conversations for every front end. It is
// safe for concurrent use.
type Service struct {
	backend checkedBackend
	blobs   checkedStore
	agent   contract.Agent
	exports fs.FS
	keyring *credential.Keyring
	logger  *slog.Logger
	now     func() time.Time

	closing context.Context
	stop    context.CancelFunc
	waits   *waits
	idle    idleConversations
	locks   keyedLock
	reads   singleflight.Group

	disk      disk
	verdict   verdict
	summary   *cache[Summary]
	catalogue *cache[contract.Catalogue]
	resources *cache[contract.ResourceCatalogue]
	prompts   *cache[contract.PromptCatalogue]
}

// New makes a Service. Close it to release those who wait.
func New(o Options) *Service {
	o = o.withDefaults()
	s := &Service{agent: o.Agent, exports: o.Exports, keyring: o.Keyring, logger: o.Logger, now: o.Now, disk: newDisk(o)}
	s.backend = checkedBackend{o.Backend, s.checkStore, refersToBlobs(o.Agent)}
	s.blobs = checkedStore{o.Blobs, s.checkStore}
	s.closing, s.stop = context.WithCancel(context.Background())
	s.waits = newWaits(s.closing, s.awaitBackend, o.RequestTimeout)
	s.summary = &cache[Summary]{load: s.backend.Summary, fresh: time.Second, now: s.now}
	s.catalogue = currentCache(s.loadCatalogue, s.now)
	s.resources = listCache(s.backend.Resources, s.now)
	s.prompts = listCache(s.backend.Prompts, s.now)
	return s
}

// Closing ends when the service is closed.
func (s *Service) Closing() context.Context { return s.closing }

// Close fails everybody who waits with ErrClosing, and returns when nothing waits for a
// workflow any more. Requests are still carried out, without waiting.
func (s *Service) Close() {
	s.stop()
	s.waits.close()
}

// sendTimeout bounds the sending of a signal or a start. It does not end when the caller
// goes away: half a request is worse than one that nobody reads.
const sendTimeout = 15 * time.Second

func sending(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
}
