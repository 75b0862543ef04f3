package witness_test

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/activities/audit/witness"
	"agent-stop-and-go/config/blobstore"
	gate "agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/credential/cosigner"
)

const origin = "example.com/agents"

// other is another agent, which is a witness.
type other struct {
	*httptest.Server
	public string
	away   atomic.Bool
	asked  atomic.Int32
}

func newOther(t *testing.T, name string, logs ...string) *other {
	t.Helper()
	text, err := cosigner.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	k, err := cosigner.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := gate.New(gate.Options{Store: openFolder(t), Key: k, Logs: logs, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	server := echo.New()
	server.POST(gate.PathAdd, e.Add)
	server.GET(gate.PathShow, e.Show)
	o := &other{public: k.Public}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.asked.Add(1)
		if o.away.Load() {
			http.Error(w, "away", http.StatusBadGateway)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

func openFolder(t *testing.T) blobstore.Folder {
	t.Helper()
	s, err := blobstore.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Folder("audit")
}

func (o *other) remote(t *testing.T) *witness.Remote {
	t.Helper()
	r, err := witness.NewRemote(o.URL+"/witness/", o.public, o.Client())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// world is a log.
type world struct {
	t     *testing.T
	files blobstore.Folder
	key   merkle.Key
	log   *merkle.Log
	n     int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	text, err := merkle.NewKey(origin)
	if err != nil {
		t.Fatal(err)
	}
	k, err := merkle.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, files: openFolder(t), key: k}
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	if w.log, err = merkle.NewLog(merkle.Options{Store: w.files, Origin: origin, Key: w.key}); err != nil {
		w.t.Fatal(err)
	}
}

// append appends leaves, one in each batch.
func (w *world) append(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.n++
		l := audit.Leaf{ID: fmt.Sprint(name, w.n), Kind: audit.KindSwitch, At: time.Unix(int64(w.n), 0)}
		if _, err := w.log.Append(w.t.Context(), audit.Head{}, []audit.Leaf{l}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) sign(p *witness.Panel) []audit.Witnessed {
	w.t.Helper()
	all, err := p.Sign(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// verify compares the log with what is kept beside it, and with what witnesses show.
func (w *world) verify(online bool, remotes ...*witness.Remote) merkle.Report {
	w.t.Helper()
	e := merkle.Evidence{Origin: origin, Keys: []string{w.key.Public}, Now: time.Now()}
	var err error
	if e.Kept, err = witness.Kept(w.t.Context(), w.files); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range remotes {
		e.Witnesses = append(e.Witnesses, r.Verifier())
		if !online {
			continue
		}
		text, err := r.Newest(w.t.Context(), origin)
		if errors.Is(err, witness.ErrNoRetrieval) {
			continue
		}
		if err != nil {
			w.t.Fatal(err)
		}
		e.Witnessed = append(e.Witnessed, text)
	}
	r, _, err := merkle.Verify(w.t.Context(), w.files, e)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// Two witnesses sign; one that was away catches up, a new process goes on, and one file of each is kept.
func TestAPanelSignsTheNewestCheckpoint(t *testing.T) {
	w := newWorld(t)
	first, second := newOther(t, "example.com/first", w.key.Public), newOther(t, "example.com/second", w.key.Public)
	panel := witness.NewPanel(w.log, w.files, first.remote(t), second.remote(t))
	if all := w.sign(panel); all[0].Size != 0 || all[0].Problem != "" || first.asked.Load() != 0 {
		t.Errorf("an empty log: %+v", all)
	}
	w.append("a", "b", "c")
	second.away.Store(true)
	all := w.sign(panel)
	if all[0] != (audit.Witnessed{Name: "example.com/first", Size: 3}) || all[1].Size != 0 || !strings.Contains(all[1].Problem, "answers 502") {
		t.Errorf("%+v", all)
	}
	w.append("d", "e")
	second.away.Store(false)
	w.open()
	panel = witness.NewPanel(w.log, w.files, first.remote(t), second.remote(t)) // another process
	want := []audit.Witnessed{{Name: "example.com/first", Size: 5}, {Name: "example.com/second", Size: 5}}
	asked := first.asked.Load()
	if all := w.sign(panel); !slices.Equal(all, want) || first.asked.Load() != asked+1 {
		t.Errorf("%+v, asked %d times", all, first.asked.Load()-asked)
	}
	if all := w.sign(panel); !slices.Equal(all, want) || first.asked.Load() != asked+1 {
		t.Errorf("it signs again: %+v", all)
	}
	kept, err := witness.Kept(t.Context(), w.files)
	if err != nil || len(kept) != 2 {
		t.Errorf("%d files, %v", len(kept), err)
	}
	if r := w.verify(true, first.remote(t), second.remote(t)); r.Class() != "" || !maps.Equal(r.Witnesses, map[string]int64{"example.com/first": 5, "example.com/second": 5}) {
		t.Errorf("%+v", r)
	}

	// What is kept is lost: the witness says what it has signed.
	if err := w.files.Remove(t.Context(), witness.Folder); err != nil {
		t.Fatal(err)
	}
	w.append("f")
	if all := w.sign(witness.NewPanel(w.log, w.files, first.remote(t))); all[0].Size != 6 || all[0].Problem != "" {
		t.Errorf("%+v", all)
	}
}

// An editor with the stolen key, who also removes or replaces what is kept beside the log, is named by what the
// witness has.
func TestAWitnessOfAnotherAgentProvesWhatWasDone(t *testing.T) {
	for name, tc := range map[string]struct {
		do     func(w *world, panel *witness.Panel)
		kept   merkle.Class // with what is kept beside the log, and without the witness
		online merkle.Class
		sign   error // what the witness answers the log
	}{
		"nothing":               {func(*world, *witness.Panel) {}, "", "", nil},
		"it grows":              {func(w *world, _ *witness.Panel) { w.append("more") }, "", "", nil},
		"the end is cut":        {func(w *world, _ *witness.Panel) { w.remove("log/0000000/004") }, merkle.TailMissing, merkle.TailMissing, merkle.ErrTailMissing},
		"everything is removed": {func(w *world, _ *witness.Panel) { w.remove("") }, "", merkle.TailMissing, nil},
		"it is signed again with the stolen key": {func(w *world, _ *witness.Panel) {
			w.remove("log/")
			w.again("a", "b", "x", "d", "e", "f")
		}, merkle.Forked, merkle.Forked, witness.ErrForked},
		"and what was kept is removed": {func(w *world, _ *witness.Panel) {
			w.remove("")
			w.again("a", "b", "x", "d", "e", "f")
		}, "", merkle.Forked, witness.ErrForked},
		"and it has as many events": {func(w *world, _ *witness.Panel) {
			w.remove("")
			w.again("a", "b", "x", "d", "e")
		}, "", merkle.Forked, witness.ErrForked},
		"and is shorter": {func(w *world, _ *witness.Panel) {
			w.remove("")
			w.again("a", "x", "d", "e")
		}, "", merkle.TailMissing, merkle.ErrTailMissing},
		"a signature beside it is changed": {func(w *world, _ *witness.Panel) {
			kept, err := witness.Kept(w.t.Context(), w.files)
			if err != nil {
				w.t.Fatal(err)
			}
			for name, text := range kept {
				w.remove(name)
				text[len(text)-9] ^= 1
				if err := w.files.Create(w.t.Context(), name, text); err != nil {
					w.t.Fatal(err)
				}
			}
		}, merkle.Altered, merkle.Altered, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := newOther(t, "example.com/w", w.key.Public)
			panel := witness.NewPanel(w.log, w.files, o.remote(t))
			w.append("a", "b", "c", "d", "e")
			w.sign(panel)
			tc.do(w, panel)
			if r := w.verify(false, o.remote(t)); r.Class() != tc.kept {
				t.Errorf("with what is kept: %q, expected %q: %+v", r.Class(), tc.kept, r.Findings)
			}
			if r := w.verify(true, o.remote(t)); r.Class() != tc.online {
				t.Errorf("with what the witness shows: %q, expected %q: %+v", r.Class(), tc.online, r.Findings)
			}

			// A witness that shows nothing is asked to sign the log as it is.
			w.open()
			text, c, err := w.log.Newest(t.Context())
			if err != nil || text == nil {
				return
			}
			_, err = o.remote(t).Sign(t.Context(), 0, text, c.Size, w.log.Prove)
			if tc.sign == nil && err != nil || !errors.Is(err, tc.sign) {
				t.Errorf("the witness answers %v, expected %v", err, tc.sign)
			}
		})
	}
}

func (w *world) remove(prefix string) {
	w.t.Helper()
	if err := w.files.Remove(w.t.Context(), prefix); err != nil {
		w.t.Fatal(err)
	}
}

// again writes a log anew, with the key.
func (w *world) again(names ...string) {
	w.n = 0
	w.open()
	w.append(names...)
}

// A witness that does not know the log, or answers something else, has signed nothing.
func TestWhatIsNoSignatureIsAProblem(t *testing.T) {
	w := newWorld(t)
	w.append("a")
	stranger := newOther(t, "example.com/w")
	foreign := newOther(t, "example.com/w", w.key.Public)
	foreign.public = stranger.public // it signs with another key
	replies := map[string]string{"": "has signed nothing", "rubbish": "is not of the key", "— example.com/w AAAAAAAA\n": "is not of the key"}
	for reply, want := range replies {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, reply) }))
		r, err := witness.NewRemote(server.URL, stranger.public, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		if all := w.sign(witness.NewPanel(w.log, w.files, r)); all[0].Size != 0 || !strings.Contains(all[0].Problem, want) {
			t.Errorf("%q: %+v", reply, all)
		}
		server.Close()
	}
	for want, o := range map[string]*other{"does not know the log": stranger, "is not of the key": foreign} {
		if all := w.sign(witness.NewPanel(w.log, w.files, o.remote(t))); all[0].Size != 0 || !strings.Contains(all[0].Problem, want) {
			t.Errorf("%+v, expected %q", all, want)
		}
	}
	if kept, err := witness.Kept(t.Context(), w.files); err != nil || len(kept) != 0 {
		t.Errorf("%v, %v", kept, err)
	}
	if _, err := witness.NewRemote("http://x", w.key.Public, nil); err == nil {
		t.Error("the key of a log is that of a witness")
	}
	if _, err := note.NewVerifier(w.key.Public); err != nil {
		t.Error(err)
	}
}
