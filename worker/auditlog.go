package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/audit/witness"
	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/workflows/contract/audit"
)

// Audit is what a worker of an installation with an audit log has. A nil Audit is without.
type Audit struct {
	Recorder *auditing.Recorder
	appender *auditing.Appender
	key      merkle.Key
	config   *config.Config
	getenv   func(string) string
	logger   *slog.Logger
}

// AuditFolder is the folder of the blob store with the log and its texts.
const AuditFolder = "audit"

// ErrAuditKey means that several processes would make a key each.
var ErrAuditKey = fmt.Errorf("audit: set %s, which all workers share; agent audit key --new ORIGIN makes one", auditlog.KeyVariable)

// AuditKey returns the key of the log: from the environment, or the file in data_dir, which is made
// if one process has its own server.
func AuditKey(c *config.Config, getenv func(string) string) (merkle.Key, error) {
	text := getenv(auditlog.KeyVariable)
	if text == "" && platform.External(c, getenv) {
		return merkle.Key{}, ErrAuditKey
	}
	if text == "" {
		k, err := merkle.KeyFile(auditlog.KeyFile(c.DataDir), c.Audit.Origin)
		if err != nil {
			return k, fmt.Errorf("audit: %w", err)
		}
		return k, nil
	}
	k, err := merkle.ParseKey(text)
	if err != nil {
		return k, fmt.Errorf("%s: %w", auditlog.KeyVariable, err)
	}
	return k, nil
}

// ReadAuditKey returns the key of the log as AuditKey does, but makes none.
func ReadAuditKey(c *config.Config, getenv func(string) string) (merkle.Key, error) {
	if getenv(auditlog.KeyVariable) != "" || platform.External(c, getenv) {
		return AuditKey(c, getenv)
	}
	file := auditlog.KeyFile(c.DataDir)
	k, err := merkle.ReadKeyFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, fmt.Errorf("audit: there is no key %s: start the agent, which makes one, or give agent audit verify the public key of the log with --key", file)
	}
	return k, err
}

// OpenAudit opens the audit log of a configuration, or returns nil.
func OpenAudit(c *config.Config, blobs *blobstore.Store, server auditing.Server, getenv func(string) string, logger *slog.Logger) (*Audit, error) {
	if c.Audit == nil {
		return nil, nil
	}
	if strings.HasPrefix(c.BlobURL(), "mem:") {
		return nil, errors.New("audit: blobs.url is a store in memory, which would lose the log")
	}
	key, err := AuditKey(c, getenv)
	if err != nil {
		return nil, err
	}
	files := blobs.Folder(AuditFolder)
	o := merkle.Options{Store: files, Origin: c.Audit.Origin, Key: key, Trusted: c.Audit.Trusted}
	if c.Audit.Witness != "" {
		if o.Witness, err = merkle.OpenWitness(c.Audit.Witness, c.Audit.Origin, append([]string{key.Public}, c.Audit.Trusted...)...); err != nil {
			return nil, fmt.Errorf("audit.witness: %w", err)
		}
	}
	log, err := merkle.NewLog(o)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	panel, err := panelOf(c.Audit, log, files)
	if err != nil {
		return nil, err
	}
	return &Audit{
		Recorder: auditing.NewRecorder(files, blobs, server, logger), appender: &auditing.Appender{Log: log, Witnesses: panel, Required: c.Audit.Required}, key: key, config: c, getenv: getenv, logger: logger,
	}, nil
}

// panelOf returns the witnesses of the log that are reached by HTTP; nil without one.
func panelOf(c *auditlog.Audit, l *merkle.Log, f blobstore.Folder) (*witness.Panel, error) {
	all, err := Witnesses(c)
	if err != nil {
		return nil, err
	}
	return witness.NewPanel(l, f, all...), nil
}

// Witnesses returns the witnesses of a log that are reached by HTTP.
func Witnesses(c *auditlog.Audit) (out []*witness.Remote, err error) {
	var o outbound.Options
	for _, w := range c.Witnesses {
		o.Trusted = append(o.Trusted, w.URL) // another agent may be on this machine
	}
	h := outbound.Client(o)
	for i, w := range c.Witnesses {
		r, err := witness.NewRemote(w.URL, w.Key, h)
		if err != nil {
			return nil, fmt.Errorf("audit.witnesses[%d]: %w", i, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// recorder returns the recorder, or nil.
func (a *Audit) recorder() *auditing.Recorder {
	if a == nil {
		return nil
	}
	return a.Recorder
}

const (
	stateRetry = 5 * time.Second
	// stateLook is how often files of keys are read again.
	stateLook = time.Minute
)

// Start sends what is recorded until stop is called, and says which rules and keys this process
// uses.
func (a *Audit) Start() (stop func(context.Context) error) {
	if a == nil {
		return func(context.Context) error { return nil }
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { a.Recorder.Run(ctx) })
	wg.Go(func() { a.states(ctx) })
	return func(context.Context) error { cancel(); wg.Wait(); return nil }
}

// states records them, however long that takes, and again when the files with keys change.
func (a *Audit) states(ctx context.Context) {
	recorded := map[string]string{}
	for {
		wait := stateLook
		if err := a.record(ctx, recorded); err != nil && ctx.Err() == nil {
			wait = stateRetry
			a.logger.Warn("the audit log lacks rules or keys in use", "error", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// record says what has changed since it was recorded.
func (a *Audit) record(ctx context.Context, recorded map[string]string) error {
	keys, unread := a.keysInUse()
	policy := "none"
	if p := a.config.Policy(); p != nil {
		policy = p.Version()
	}
	for _, l := range append(keys, audit.Leaf{Kind: audit.KindPolicy, What: a.config.AgentName(), Policy: policy}) {
		name, value, _ := l.State()
		if recorded[name] == value {
			continue
		}
		if err := a.Recorder.State(ctx, l.Kind, l.What, l.Policy, l.Version); err != nil {
			return err
		}
		recorded[name] = value
	}
	return unread
}

var _ auditing.Server = client.Client(nil)
