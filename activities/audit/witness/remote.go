package witness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/workflows/credential/cosigner"
)

// ErrForked means that a witness has signed another log under the same key.
var ErrForked = errors.New("the witness has signed another log of this name")

// ErrNoRetrieval means that a witness does not show what it has signed, which the protocol does not ask for.
var ErrNoRetrieval = errors.New("the witness does not show what it has signed")

// maxReply bounds what is read of a reply, in bytes.
const maxReply = 64 << 10

// staleError says that the witness has signed another size last.
type staleError struct{ size int64 }

func (e *staleError) Error() string {
	return fmt.Sprintf("the witness has signed %d leaves last", e.size)
}

// Remote is one witness.
type Remote struct {
	url      string
	verifier note.Verifier
	client   *http.Client
}

// NewRemote returns the witness at a URL, without add-checkpoint, that has a public key.
func NewRemote(url, key string, c *http.Client) (*Remote, error) {
	v, err := cosigner.Verifier(key)
	if err != nil {
		return nil, fmt.Errorf("public key %q: %w", key, err)
	}
	return &Remote{url: strings.TrimRight(url, "/"), verifier: v, client: c}, nil
}

// Verifier verifies the signatures of the witness.
func (r *Remote) Verifier() note.Verifier { return r.verifier }

// Add asks the witness to sign a checkpoint, which continues what it has signed last, of old leaves. It returns
// the signature, which it has verified. The error is ErrForked, a *staleError, or that of a witness that cannot
// be asked.
func (r *Remote) Add(ctx context.Context, old int64, proof tlog.TreeProof, checkpoint []byte) (note.Signature, error) {
	var body bytes.Buffer
	fmt.Fprintf(&body, "old %d\n", old)
	for _, hash := range proof {
		fmt.Fprintln(&body, hash)
	}
	body.WriteByte('\n')
	body.Write(checkpoint)
	status, kind, reply, err := r.do(ctx, http.MethodPost, "/add-checkpoint", &body)
	switch {
	case err != nil:
		return note.Signature{}, err
	case status == http.StatusOK:
		return r.signature(checkpoint, reply)
	case status == http.StatusConflict && strings.HasPrefix(kind, "text/x.tlog.size"):
		size, err := strconv.ParseInt(strings.TrimSpace(string(reply)), 10, 64)
		if err != nil || size < 0 {
			return note.Signature{}, fmt.Errorf("%s answers with the size %.40q", r.url, reply)
		}
		return note.Signature{}, &staleError{size}
	case status == http.StatusConflict, status == http.StatusUnprocessableEntity:
		return note.Signature{}, ErrForked
	case status == http.StatusNotFound:
		return note.Signature{}, fmt.Errorf("%s does not know the log: add its public key there", r.url)
	case status == http.StatusForbidden:
		return note.Signature{}, fmt.Errorf("%s does not know the key of the log: add it there", r.url)
	}
	return note.Signature{}, fmt.Errorf("%s answers %d: %.200q", r.url, status, reply)
}

// Sign has the witness sign a checkpoint of size leaves: first from the size that it seems to have signed last,
// and then from the one that it says. The error is ErrForked, merkle.ErrTailMissing if the witness has signed a
// longer log, or that of a witness that cannot be asked.
func (r *Remote) Sign(ctx context.Context, old int64, checkpoint []byte, size int64, prove func(old, size int64) (tlog.TreeProof, error)) (note.Signature, error) {
	for range 3 { // it may sign a checkpoint of another process meanwhile
		proof, err := prove(old, size)
		if err != nil {
			return note.Signature{}, err
		}
		signature, err := r.Add(ctx, old, proof, checkpoint)
		var stale *staleError
		if !errors.As(err, &stale) {
			return signature, err
		}
		if old = stale.size; old > size {
			return note.Signature{}, fmt.Errorf("%w: the witness has seen %d leaves, and there are %d", merkle.ErrTailMissing, old, size)
		}
	}
	return note.Signature{}, fmt.Errorf("%s signs other checkpoints at the same time", r.url)
}

// signature finds the one of the witness in its reply. Others are ignored.
func (r *Remote) signature(checkpoint, reply []byte) (note.Signature, error) {
	text, _, ok := bytes.Cut(checkpoint, []byte("\n\n"))
	if !ok || len(reply) == 0 {
		return note.Signature{}, fmt.Errorf("%s has signed nothing", r.url)
	}
	n, err := note.Open(bytes.Join([][]byte{text, reply}, []byte("\n\n")), note.VerifierList(r.verifier))
	if err != nil {
		return note.Signature{}, fmt.Errorf("%s answers with a signature that is not of the key %s: %w", r.url, r.verifier.Name(), err)
	}
	return n.Sigs[0], nil
}

// Newest returns the newest checkpoint of a log that the witness has signed, or nil if it has signed none. The
// error is ErrNoRetrieval for witnesses that do not say.
func (r *Remote) Newest(ctx context.Context, origin string) ([]byte, error) {
	sum := sha256.Sum256([]byte(origin))
	status, _, reply, err := r.do(ctx, http.MethodGet, "/logs/"+hex.EncodeToString(sum[:])+"/checkpoint", nil)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return nil, ErrNoRetrieval
	case status != http.StatusOK:
		return nil, fmt.Errorf("%s answers %d: %.200q", r.url, status, reply)
	}
	return reply, nil
}

func (r *Remote) do(ctx context.Context, method, path string, body io.Reader) (status int, kind string, reply []byte, err error) {
	q, err := http.NewRequestWithContext(ctx, method, r.url+path, body)
	if err != nil {
		return 0, "", nil, err
	}
	if body != nil {
		q.Header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	p, err := r.client.Do(q)
	if err != nil {
		return 0, "", nil, err
	}
	defer p.Body.Close()
	reply, err = io.ReadAll(io.LimitReader(p.Body, maxReply))
	return p.StatusCode, p.Header.Get("Content-Type"), reply, err
}
