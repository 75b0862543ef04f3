package witness_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/transparency-dev/formats/log"
	fnote "github.com/transparency-dev/formats/note"
	theirclient "github.com/transparency-dev/witness/client/http"
	"github.com/transparency-dev/witness/persistence/inmemory"
	theirs "github.com/transparency-dev/witness/witness"
	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/audit/witness"
	"agent-stop-and-go/config/blobstore"
	gate "agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/credential/cosigner"
)

const origin = "example.com/agents"

func openFolder(t *testing.T) blobstore.Folder {
	t.Helper()
	s, err := blobstore.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Folder("audit")
}

// world is one of our logs.
type world struct {
	t     *testing.T
	files blobstore.Folder
	key   merkle.Key
	log   *merkle.Log
}

func newWorld(t *testing.T) *world {
	t.Helper()
	text, err := merkle.NewKey(origin)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, files: openFolder(t)}
	if w.key, err = merkle.ParseKey(text); err != nil {
		t.Fatal(err)
	}
	w.log = w.open(w.files)
	return w
}

func (w *world) open(f blobstore.Folder) *merkle.Log {
	w.t.Helper()
	l, err := merkle.NewLog(merkle.Options{Store: f, Origin: origin, Key: w.key})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (w *world) append(l *merkle.Log, names ...string) {
	w.t.Helper()
	for _, name := range names {
		if _, err := l.Append(w.t.Context(), audit.Head{}, []audit.Leaf{{ID: name, Kind: audit.KindSwitch}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func newKey(t *testing.T) (text string, k cosigner.Key) {
	t.Helper()
	text, err := cosigner.NewKey("example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	if k, err = cosigner.ParseKey(text); err != nil {
		t.Fatal(err)
	}
	return text, k
}

// Their witness signs our checkpoints, and refuses a log that was written anew.
func TestForeignWitnessSignsOurLog(t *testing.T) {
	w := newWorld(t)
	text, key := newKey(t)
	private, _, _ := strings.Cut(text, "\n")
	signer, err := fnote.NewSignerForCosignatureV1(private)
	if err != nil {
		t.Fatal(err)
	}
	ofLog, err := note.NewVerifier(w.key.Public)
	if err != nil {
		t.Fatal(err)
	}
	their, err := theirs.New(t.Context(), theirs.Opts{
		Persistence: inmemory.New(), Signers: []note.Signer{signer},
		VerifierForLog: func(_ context.Context, o string) (note.Verifier, bool, error) { return ofLog, o == origin, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", theirs.NewHTTPHandler(their).AddCheckpoint)
	server := httptest.NewServer(mux)
	defer server.Close()
	remote, err := witness.NewRemote(server.URL, key.Public, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	w.append(w.log, "a", "b", "c")
	panel := witness.NewPanel(w.log, w.files, remote)
	for _, more := range [][]string{nil, {"d"}, {"e", "f", "g"}} {
		w.append(w.log, more...)
		all, err := panel.Sign(t.Context())
		_, c, _ := w.log.Newest(t.Context())
		if err != nil || len(all) != 1 || all[0].Size != c.Size || all[0].Problem != "" {
			t.Fatalf("%+v, %v", all, err)
		}
	}
	if _, err := remote.Newest(t.Context(), origin); !errors.Is(err, witness.ErrNoRetrieval) {
		t.Errorf("their witness shows what it has signed: %v", err)
	}
	// A process that does not know what was signed gets the size from the witness.
	if all, err := witness.NewPanel(w.log, openFolder(t), remote).Sign(t.Context()); err != nil || all[0].Size != 7 || all[0].Problem != "" {
		t.Errorf("%+v, %v", all, err)
	}
	forged := w.open(openFolder(t))
	w.append(forged, "a", "b", "x", "d", "e", "f", "g", "h")
	checkpoint, c, err := forged.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Sign(t.Context(), 0, checkpoint, c.Size, forged.Prove); !errors.Is(err, witness.ErrForked) {
		t.Errorf("a log that was written anew: %v", err)
	}
}

// Their client has our witness sign, and understands every refusal.
func TestForeignClientUnderstandsOurWitness(t *testing.T) {
	w, stranger := newWorld(t), newWorld(t)
	_, key := newKey(t)
	endpoint, err := gate.New(gate.Options{Store: openFolder(t), Key: key, Logs: []string{w.key.Public}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	e.POST(gate.PathAdd, endpoint.Add)
	server := httptest.NewServer(e)
	defer server.Close()
	at, err := url.Parse(server.URL + "/witness")
	if err != nil {
		t.Fatal(err)
	}
	client := theirclient.NewWitness(at, server.Client())
	update := func(l *merkle.Log, old int64) (text, signature []byte, size uint64, err error) {
		text, c, err := l.Newest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		proof, err := l.Prove(min(old, c.Size), c.Size)
		if err != nil {
			t.Fatal(err)
		}
		var hashes [][]byte
		for _, h := range proof {
			hashes = append(hashes, h[:])
		}
		signature, size, err = client.Update(t.Context(), uint64(old), text, hashes)
		return text, signature, size, err
	}
	verifier, err := fnote.NewVerifierForCosignatureV1(key.Public)
	if err != nil {
		t.Fatal(err)
	}
	ofLog, err := note.NewVerifier(w.key.Public)
	if err != nil {
		t.Fatal(err)
	}
	for old, more := range map[int64][]string{0: {"a", "b"}} {
		w.append(w.log, more...)
		text, signature, _, err := update(w.log, old)
		if err != nil {
			t.Fatal(err)
		}
		c, _, n, err := log.ParseCheckpoint(append(text, signature...), origin, ofLog, verifier)
		if err != nil || len(n.Sigs) != 2 || c.Size != 2 {
			t.Errorf("their parser: %+v, %v", c, err)
		}
		if when, err := fnote.CoSigV1Timestamp(n.Sigs[1]); err != nil || when.IsZero() {
			t.Errorf("%v, %v", when, err)
		}
	}
	w.append(w.log, "c", "d", "e")
	if _, _, _, err := update(w.log, 2); err != nil {
		t.Errorf("from 2 to 5: %v", err)
	}
	if _, _, size, err := update(w.log, 0); !errors.Is(err, theirs.ErrCheckpointStale) || size != 5 {
		t.Errorf("another old size: %d, %v", size, err)
	}
	if _, _, _, err := update(w.log, 9); !errors.Is(err, theirs.ErrOldSizeInvalid) {
		t.Errorf("an old size that is more: %v", err)
	}
	forged := w.open(openFolder(t))
	w.append(forged, "a", "b", "x", "d", "e")
	if _, _, _, err := update(forged, 5); !errors.Is(err, theirs.ErrRootMismatch) {
		t.Errorf("another root: %v", err)
	}
	w.append(forged, "f")
	if _, _, _, err := update(forged, 5); !errors.Is(err, theirs.ErrInvalidProof) {
		t.Errorf("a proof of another log: %v", err)
	}
	stranger.append(stranger.log, "a")
	if _, _, _, err := update(stranger.log, 0); !errors.Is(err, theirs.ErrNoValidSignature) {
		t.Errorf("another key: %v", err)
	}
	if _, _, err := client.Update(t.Context(), 0, []byte(fmt.Sprintf("example.com/other\n0\n%s\n\n", "x")), nil); !errors.Is(err, theirs.ErrUnknownLog) {
		t.Errorf("another log: %v", err)
	}
}
