package auditor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract/audit"
)

// ErrNone means that the configuration has no audit log.
var ErrNone = errors.New("there is no audit log: the file has no audit key")

// Reader reads the log of a configuration.
type Reader struct {
	Report   merkle.Report
	Contents merkle.Contents
	Evidence merkle.Evidence

	files blobstore.Folder
	store *blobstore.Store
}

// Open reads the whole log and checks it. Keys are the public keys to trust; without them it is the
// one of the configuration. server may be nil: then the log is not compared with what that knows.
func Open(ctx context.Context, c *config.Config, keys []string, server client.Client, getenv func(string) string) (*Reader, error) {
	if c.Audit == nil {
		return nil, ErrNone
	}
	e := merkle.Evidence{Origin: c.Audit.Origin, Keys: keys, Now: time.Now()}
	if len(keys) == 0 {
		key, err := worker.ReadAuditKey(c, getenv)
		if err != nil {
			return nil, err
		}
		e.Keys = append([]string{key.Public}, c.Audit.Trusted...)
	}
	codec, err := c.Encryption.Open(getenv)
	if err != nil {
		return nil, err
	}
	store, err := blobstore.Open(ctx, c.BlobURL())
	if err != nil {
		return nil, err
	}
	store.Encrypt(codec)
	r := &Reader{files: store.Folder(worker.AuditFolder), store: store}
	e.Texts = func(ctx context.Context, l audit.Leaf) (audit.Text, error) { return auditing.ReadText(ctx, r.files, l) }
	e.Tombstones = func(ctx context.Context, conversation string) (string, error) {
		t, err := store.Tombstone(ctx, conversation)
		if err != nil || t == nil {
			return "", cmp.Or(err, merkle.ErrNotFound)
		}
		return t.Sum(), nil
	}
	if dir := c.Audit.Witness; dir != "" {
		if e.Witnessed, err = merkle.ReadWitness(dir); err != nil {
			return nil, err
		}
		if e.WitnessKey, err = merkle.WitnessKey(dir); err != nil {
			return nil, err
		}
	}
	if server != nil {
		if e.Head, err = headOf(ctx, server); err != nil {
			return nil, err
		}
	}
	r.Evidence = e
	r.Report, r.Contents, err = merkle.Verify(ctx, r.files, e)
	return r, err
}

// headOf asks the Audit what it has seen of the log. One that does not run has seen nothing.
func headOf(ctx context.Context, server client.Client) (audit.Head, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := server.QueryWorkflow(ctx, audit.WorkflowID, "", audit.QueryAudit)
	var v audit.View
	if err == nil {
		err = answer.Get(&v)
	}
	if err != nil {
		return audit.Head{}, fmt.Errorf("ask the server what it knows of the log (--offline does not): %w", err)
	}
	return v.Head, nil
}

// Intact fails if the log is forked or altered.
func (r *Reader) Intact() error {
	if c := r.Report.Class(); c == merkle.Forked || c == merkle.Altered {
		return fmt.Errorf("the audit log is %s; agent audit verify says where", c)
	}
	return nil
}
