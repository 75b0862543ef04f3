package witness_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential/cosigner"
)

const origin = "example.com/agents"

// memory is a Store.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
	fails error
}

func (m *memory) Create(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails != nil {
		return m.fails
	}
	if _, there := m.files[name]; there {
		return fs.ErrExist
	}
	m.files[name] = data
	return nil
}

func (m *memory) Read(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if data, there := m.files[name]; there && m.fails == nil {
		return data, nil
	}
	return nil, cmp.Or(m.fails, fs.ErrNotExist)
}

func (m *memory) List(_ context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(m.files)), func(n string) bool { return !strings.HasPrefix(n, prefix) })
	return names, m.fails
}

// log is a log of made-up leaves. Those of another branch differ from a leaf on.
type log struct {
	t      *testing.T
	signer note.Signer
	public string
	branch string
	from   int64
}

func newLog(t *testing.T) log {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		t.Fatal(err)
	}
	s, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return log{t: t, signer: s, public: public}
}

// fork returns a log that has the same leaves before one.
func (l log) fork(from int64) log {
	l.branch, l.from = "other", from
	return l
}

type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) (out []tlog.Hash, err error) {
	for _, i := range indexes {
		out = append(out, h[i])
	}
	return out, nil
}

// at returns the note of a size, and the proof from an old one.
func (l log) at(old, size int64) (checkpoint string, proof tlog.TreeProof) {
	l.t.Helper()
	var all hashes
	for n := range size {
		leaf := fmt.Sprint("leaf ", n)
		if n >= l.from {
			leaf += l.branch
		}
		more, err := tlog.StoredHashes(n, []byte(leaf), all)
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, more...)
	}
	root := tlog.Hash(sha256.Sum256(nil))
	if size > 0 {
		var err error
		if root, err = tlog.TreeHash(size, all); err != nil {
			l.t.Fatal(err)
		}
	}
	text, err := note.Sign(&note.Note{Text: fmt.Sprintf("%s\n%d\n%s\n", origin, size, root)}, l.signer)
	if err != nil {
		l.t.Fatal(err)
	}
	if old > 0 && old <= size {
		if proof, err = tlog.ProveTree(size, old, all); err != nil {
			l.t.Fatal(err)
		}
	}
	return string(text), proof
}

// body returns the request that a log sends.
func (l log) body(old, size int64) string {
	checkpoint, proof := l.at(old, size)
	out := fmt.Sprintf("old %d\n", old)
	for _, h := range proof {
		out += h.String() + "\n"
	}
	return out + "\n" + checkpoint
}

// gate is a gateway that is a witness.
type gate struct {
	t *testing.T
	*echo.Echo
	key cosigner.Key
	log bytes.Buffer
}

func newKey(t *testing.T) cosigner.Key {
	t.Helper()
	text, err := cosigner.NewKey("witness.example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	k, err := cosigner.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newGate(t *testing.T, k cosigner.Key, s witness.Store, logs ...string) *gate {
	t.Helper()
	g := &gate{t: t, Echo: echo.New(), key: k}
	e, err := witness.New(witness.Options{Store: s, Key: k, Logs: logs, Logger: slog.New(slog.NewTextHandler(&g.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	g.POST(witness.PathAdd, e.Add)
	g.GET(witness.PathShow, e.Show)
	g.HTTPErrorHandler = func(err error, c echo.Context) {
		status := http.StatusInternalServerError
		switch {
		case service.IsKind(err, contract.KindNotFound):
			status = http.StatusNotFound
		case service.IsKind(err, service.KindUnavailable):
			status = http.StatusServiceUnavailable
		}
		_ = c.String(status, err.Error())
	}
	return g
}

func (g *gate) post(body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequest(http.MethodPost, witness.PathAdd, strings.NewReader(body)))
	return w
}

func (g *gate) newest() *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	sum := sha256.Sum256([]byte(origin))
	g.ServeHTTP(w, httptest.NewRequest(http.MethodGet, strings.Replace(witness.PathShow, ":sha256", hex.EncodeToString(sum[:]), 1), nil))
	return w
}

// signs sends a checkpoint and wants its signature.
func (g *gate) signs(l log, old, size int64) {
	g.t.Helper()
	w := g.post(l.body(old, size))
	checkpoint, _ := l.at(old, size)
	own, err := cosigner.Verifier(g.key.Public)
	if err != nil {
		g.t.Fatal(err)
	}
	if n, err := note.Open([]byte(checkpoint+w.Body.String()), note.VerifierList(own)); w.Code != 200 || err != nil || len(n.Sigs) != 1 {
		g.t.Fatalf("from %d to %d: %d %s, %v", old, size, w.Code, w.Body, err)
	}
}

// conflicts sends a checkpoint and wants to know the size that was signed.
func (g *gate) conflicts(l log, old, size, known int64) {
	g.t.Helper()
	w := g.post(l.body(old, size))
	if w.Code != http.StatusConflict || w.Header().Get("Content-Type") != "text/x.tlog.size" || w.Body.String() != fmt.Sprintln(known) {
		g.t.Errorf("from %d to %d: %d %s %q, expected the size %d", old, size, w.Code, w.Header(), w.Body, known)
	}
}

func (g *gate) refuses(status int, body string) {
	g.t.Helper()
	if w := g.post(body); w.Code != status {
		g.t.Errorf("%d %q, expected %d, for\n%s", w.Code, w.Body, status, body)
	}
}

// What was signed holds for the next process too, and for another one that runs.
func TestItSignsWhatContinuesWhatItHasSigned(t *testing.T) {
	l, k, s := newLog(t), newKey(t), &memory{files: map[string][]byte{}}
	g := newGate(t, k, s, l.public)
	if w := g.newest(); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	other := newGate(t, k, s, l.public)
	g.signs(l, 0, 0)
	g.signs(l, 0, 3)
	g.signs(l, 3, 3) // again, for an answer that was lost
	other.conflicts(l, 0, 9, 3)
	other.signs(l, 3, 9)
	g.conflicts(l, 3, 10, 9)
	if len(s.files) != 3 {
		t.Errorf("%d files", len(s.files))
	}
	restarted := newGate(t, k, s, l.public)
	for _, g := range []*gate{g, other, restarted} {
		g.conflicts(l, 3, 8, 9) // back
		g.refuses(http.StatusConflict, l.fork(5).body(9, 9))
		g.refuses(http.StatusUnprocessableEntity, l.fork(5).body(9, 12))
		if !strings.Contains(g.log.String(), "a log has signed a checkpoint that does not continue") {
			t.Errorf("the log of the gateway has %q", g.log.String())
		}
		w := g.newest()
		own, _ := cosigner.Verifier(k.Public)
		theirs, _ := note.NewVerifier(l.public)
		n, err := note.Open(w.Body.Bytes(), note.VerifierList(own, theirs))
		if err != nil || len(n.Sigs) != 2 || !strings.HasPrefix(n.Text, origin+"\n9\n") {
			t.Errorf("the newest checkpoint is %d %s, %v", w.Code, w.Body, err)
		}
	}
	restarted.signs(l, 9, 12)
}

// A log that shows one branch to a gateway, and another one to another gateway, at the same time, gets the
// signature for one.
func TestTwoGatewaysDoNotSignTwoBranches(t *testing.T) {
	l, k := newLog(t), newKey(t)
	for range 30 {
		s := &memory{files: map[string][]byte{}}
		first, second := newGate(t, k, s, l.public), newGate(t, k, s, l.public)
		first.signs(l, 0, 4)
		var wg sync.WaitGroup
		signed := make([]int, 2)
		for i, g := range []*gate{first, second} {
			branch := l.fork(int64(4 + i)) // leaf 4 differs
			body := branch.body(4, 7)
			wg.Go(func() { signed[i] = g.post(body).Code })
		}
		wg.Wait()
		slices.Sort(signed)
		if !slices.Equal(signed, []int{http.StatusOK, http.StatusConflict}) || len(s.files) != 2 {
			t.Fatalf("%v, %d files", signed, len(s.files))
		}
	}
}

// What is not as the protocol has it changes nothing.
func TestWhatIsWrongIsRefusedAndLeavesNothingBehind(t *testing.T) {
	l, stranger, s := newLog(t), newLog(t), &memory{files: map[string][]byte{}}
	g := newGate(t, newKey(t), s, l.public)
	good := l.body(0, 5)
	proof := "old 0\n" + tlog.Hash{}.String() + "\n\n"
	checkpoint, _ := l.at(0, 5)
	for _, tc := range []struct {
		status int
		body   string
	}{
		{http.StatusBadRequest, ""}, {http.StatusBadRequest, "old 0\n"}, {http.StatusBadRequest, "old 00\n\n" + checkpoint},
		{http.StatusBadRequest, "old -1\n\n" + checkpoint}, {http.StatusBadRequest, "new 0\n\n" + checkpoint}, {http.StatusBadRequest, "old 0\nAAAA\n\n" + checkpoint},
		{http.StatusBadRequest, "old 0\n" + strings.Repeat(tlog.Hash{}.String()+"\n", 64) + "\n" + checkpoint},
		{http.StatusBadRequest, strings.Replace(good, "old 0", "old 6", 1)},
		{http.StatusBadRequest, good + strings.Repeat("x", witness.MaxBody)},
		{http.StatusBadRequest, strings.TrimSuffix(good, "\n")},
		{http.StatusUnprocessableEntity, proof + checkpoint},
		{http.StatusForbidden, stranger.body(0, 5)}, {http.StatusForbidden, strings.Replace(good, "\n5\n", "\n6\n", 1)},
		{http.StatusNotFound, strings.Replace(good, origin, "example.com/others", 1)},
	} {
		g.refuses(tc.status, tc.body)
	}
	if len(s.files) != 0 {
		t.Errorf("%d files", len(s.files))
	}
	s.fails = errors.New("no space left on device")
	g.refuses(http.StatusServiceUnavailable, good)
	s.fails = nil
	g.signs(l, 0, 5)
	for name := range s.files { // a disk has lost what was signed
		s.files[name] = []byte("\n")
	}
	newGate(t, g.key, s, l.public).refuses(http.StatusServiceUnavailable, l.body(5, 6))
}

// A log is slowed down, and no other.
func TestTooManyCheckpointsAreRefused(t *testing.T) {
	l, s := newLog(t), &memory{files: map[string][]byte{}}
	g := newGate(t, newKey(t), s, l.public)
	body, many := l.body(0, 1), 0
	for range witness.Burst + 10 {
		if w := g.post(body); w.Code == http.StatusTooManyRequests {
			wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
			if many++; err != nil || wait < 1 {
				t.Errorf("Retry-After: %v", w.Header())
			}
		}
	}
	if many == 0 {
		t.Error("nothing is refused")
	}
}

func TestAnAgentThatIsNoWitnessSaysSo(t *testing.T) {
	var none *witness.Endpoint
	for _, handle := range []echo.HandlerFunc{none.Add, none.Show} {
		c := echo.New().NewContext(httptest.NewRequest(http.MethodPost, "/", nil), httptest.NewRecorder())
		if err := handle(c); !service.IsKind(err, contract.KindNotFound) {
			t.Error(err)
		}
	}
}
