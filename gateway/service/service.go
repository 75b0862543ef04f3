package service

import (
	"context"
	"io/fs"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"agent-stop-and-go/gateway/service/idle"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// DefaultRequestTimeout is how long a request waits for its answer.
const DefaultRequestTimeout = 60 * time.Second

// Options are the dependencies and settings of a Service.
type Options struct {
	Backend Backend
	// See fails if the caller in ctx may not see a conversation, as if it did not exist. Nil:
	// nobody has to prove who calls, and everybody sees all.
	See func(ctx context.Context, conversationID string) error
	// SharedGroups are the groups to which the conversations of their members belong too, by the
	// issuer of the identities.
	SharedGroups map[string][]string
	// Agent is the agent of new conversations, TaskQueue the one of their workflows.
	Agent     contract.Agent
	TaskQueue string
	Blobs     transcript.Store
	// Exports contains the exported conversations, which are shown while no worker answers.
	// It may be nil.
	Exports fs.FS
	// Room fails like a write if the disk of the Temporal server is full. It is nil if the
	// server is another process.
	Room func(context.Context) error
	// Keyring seals bearer tokens. Without it they are dropped.
	Keyring *credential.Keyring
	// SealCallers seals who sent a message even if no token came with it.
	SealCallers bool
	// Takes returns what a model takes besides text, by the name that nodes use. Nil: nothing.
	Takes func(model string) modality.Set
	// SendRights sends all groups and scopes of the sender with a message, for the agent's rules.
	SendRights bool
	// Logger is slog.Default by default.
	Logger *slog.Logger
	// RequestTimeout is DefaultRequestTimeout by default.
	RequestTimeout time.Duration
	// Now is time.Now by default.
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

// Service starts, signals, reads and decides conversations for every front end. It is safe
// for concurrent use.
type Service struct {
	backend checkedBackend
	blobs   checkedStore
	seeing  func(ctx context.Context, conversationID string) error
	shared  map[string][]string // as SharedGroups
	agent   contract.Agent
	takes   modality.Agent
	queue   string
	exports fs.FS
	keyring *credential.Keyring
	// sealCallers and sendRights are as in Options.
	sealCallers bool
	sendRights  bool
	logger      *slog.Logger
	now         func() time.Time

	closing context.Context
	stop    context.CancelFunc
	waits   *waits
	idle    idle.Conversations
	locks   keyedLock
	reads   singleflight.Group

	disk       disk
	storeCheck storeCheck
	summaries  *summaries
	catalogue  *cache[contract.Catalogue]
	resources  *cache[contract.ResourceCatalogue]
	prompts    *cache[contract.PromptCatalogue]
}

// New makes a Service. It must be closed.
func New(o Options) *Service {
	o = o.withDefaults()
	s := &Service{seeing: o.See, shared: o.SharedGroups, agent: o.Agent, takes: modality.Agent{Agent: o.Agent, Of: o.Takes}, queue: o.TaskQueue, exports: o.Exports, keyring: o.Keyring, sealCallers: o.SealCallers, sendRights: o.SendRights, logger: o.Logger, now: o.Now, disk: newDisk(o)}
	s.backend = checkedBackend{o.Backend, s.checkStore, refersToBlobs(o.Agent)}
	s.blobs = checkedStore{o.Blobs, s.checkStore}
	s.closing, s.stop = context.WithCancel(context.Background())
	s.waits = newWaits(s.closing, s.awaitBackend, o.RequestTimeout)
	s.summaries = newSummaries(s.backend, s.now)
	s.catalogue = currentCache(s.loadCatalogue, s.now)
	s.resources = listCache(s.backend.Resources, s.now)
	s.prompts = listCache(s.backend.Prompts, s.now)
	return s
}

// Closing returns a context that ends when the service is closed.
func (s *Service) Closing() context.Context { return s.closing }

// Close ends all waits with ErrClosing, and returns when no update of a workflow is in
// flight. Requests are still carried out after it, without waiting.
func (s *Service) Close() {
	s.stop()
	s.waits.close()
}

// sendTimeout limits the sending of a signal or a start. Sending continues if the caller
// disconnects, so that no request is carried out in part.
const sendTimeout = 15 * time.Second

func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
}
