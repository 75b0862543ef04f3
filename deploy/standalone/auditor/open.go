package auditor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/audit/witness"
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
	// Unasked says which witnesses could not be asked, and why.
	Unasked []string

	// publicKeys are those of the witnesses, by NAME+HASH.
	publicKeys map[string]string
	files      blobstore.Folder
	store      *blobstore.Store
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
	r := &Reader{files: store.Folder(worker.AuditFolder), store: store, publicKeys: map[string]string{}}
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
		key, err := merkle.WitnessKey(dir)
		if err != nil {
			return nil, err
		}
		v, err := note.NewVerifier(key)
		if err != nil {
			return nil, err
		}
		e.Witnesses, r.publicKeys[nameOf(v)] = append(e.Witnesses, v), key
	}
	remotes, err := worker.Witnesses(c.Audit)
	if err != nil {
		return nil, err
	}
	for i, w := range remotes {
		e.Witnesses, r.publicKeys[nameOf(w.Verifier())] = append(e.Witnesses, w.Verifier()), c.Audit.Witnesses[i].Key
	}
	if e.Kept, err = witness.Kept(ctx, r.files); err != nil {
		return nil, err
	}
	if server != nil {
		v, err := View(ctx, server)
		if err != nil {
			return nil, fmt.Errorf("ask the server what it knows of the log (--offline does not): %w", err)
		}
		e.Head = v.Head
		remotes = r.retrieve(ctx, remotes, &e)
	}
	r.Evidence = e
	if r.Report, r.Contents, err = merkle.Verify(ctx, r.files, e); err != nil {
		return nil, err
	}
	if server != nil {
		r.submit(ctx, remotes)
	}
	return r, nil
}

// nameOf names a key.
func nameOf(v note.Verifier) string { return fmt.Sprintf("%s+%08x", v.Name(), v.KeyHash()) }

// View asks the Audit what it knows of the log.
func View(ctx context.Context, server client.Client) (v audit.View, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := server.QueryWorkflow(ctx, audit.WorkflowID, "", audit.QueryAudit)
	if err == nil {
		err = answer.Get(&v)
	}
	return v, err
}

// Intact fails if the log is forked or altered.
func (r *Reader) Intact() error {
	if c := r.Report.Class(); c == merkle.Forked || c == merkle.Altered {
		return fmt.Errorf("the audit log is %s; agent audit verify says where", c)
	}
	return nil
}
