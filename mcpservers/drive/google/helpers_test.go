package google_test

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"agent-stop-and-go/mcpservers/drive/google"
	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixture is a drive with a folder, which a service account can see.
type fixture struct {
	*google.Drive
	at     *drivetest.Server
	folder string
	config google.Config
}

func newFixture(t *testing.T, change ...func(*google.Config)) *fixture {
	t.Helper()
	at := drivetest.New()
	s := httptest.NewServer(at)
	t.Cleanup(s.Close)
	key, err := drivetest.KeyFile(s.URL)
	must(t, err)
	credential, err := google.NewServiceAccount(key, "")
	must(t, err)
	f := &fixture{at: at, folder: at.Folder("Reports", drivetest.Root)}
	f.config = google.Config{Folder: f.folder, Credential: credential, MaxFile: 1000, Endpoint: s.URL}
	f.Drive = reopened(t, f, change...)
	return f
}

// reopened opens the folder once more.
func reopened(t *testing.T, f *fixture, change ...func(*google.Config)) *google.Drive {
	t.Helper()
	config := f.config
	for _, c := range change {
		c(&config)
	}
	d, err := google.Open(t.Context(), config, slog.New(slog.DiscardHandler))
	must(t, err)
	return d
}

func mark(key, args string) store.Mark {
	return store.NewMark("tool", hosting.CallKey{Key: key, ArgsSHA256: args})
}

func page() store.Page { return store.Page{Limit: 100} }

func (f *fixture) content(id string) string { return string(f.at.Get(id).Content) }
