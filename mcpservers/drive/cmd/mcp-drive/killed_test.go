package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/hosting/programtest"
)

// silent carries out uploads, and answers the first one never.
type silent struct {
	drive   http.Handler
	made    chan struct{}
	end     chan struct{} // of the test
	uploads atomic.Int32
}

func (s *silent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/upload/") {
		s.drive.ServeHTTP(w, r)
		return
	}
	if s.uploads.Add(1) > 1 {
		s.drive.ServeHTTP(w, r)
		return
	}
	s.drive.ServeHTTP(httptest.NewRecorder(), r)
	close(s.made)
	<-s.end
}

// An addition whose server is killed is made once, and a repeated call finds its mark. The server does not promise
// that, because Google Drive has no conditions, so an agent asks a person instead of calling again.
func TestAnAdditionOfAKilledServerIsMadeOnce(t *testing.T) {
	at := drivetest.New()
	s := &silent{drive: at, made: make(chan struct{}), end: make(chan struct{})}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(s.end) }) // which Close waits for
	folder := at.Folder("Reports", drivetest.Root)
	id := at.Text("a.txt", folder, "one\n")
	key, err := drivetest.KeyFile(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"key.json": string(key), "drive.yaml": "google: {folder: " + folder + ", key_file: key.json, endpoint: '" + web.URL + "'}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := programtest.Serve(t, dir, "--config", "drive.yaml")
	arguments := map[string]any{"id": id, "content": "two\n"}
	answered := make(chan error, 1)
	go func() {
		_, err := server.Call(t.Context(), "append_file", "key", arguments)
		answered <- err
	}()
	select {
	case <-s.made:
	case err := <-answered:
		t.Fatal("it ended before its upload: ", err)
	}
	server.Kill()
	if err := <-answered; err == nil {
		t.Error("a killed server answered")
	}
	again := programtest.Serve(t, dir, "--config", "drive.yaml")
	if again.Deduplicates {
		t.Error("the server promises to recognise every call of before")
	}
	if text, err := again.Call(t.Context(), "append_file", "key", arguments); err != nil {
		t.Errorf("%s, %v", text, err)
	}
	if got := string(at.Get(id).Content); got != "one\ntwo\n" || s.uploads.Load() != 1 {
		t.Errorf("%q after %d uploads", got, s.uploads.Load())
	}
	if _, err := again.Call(t.Context(), "append_file", "another", arguments); err != nil || string(at.Get(id).Content) != "one\ntwo\ntwo\n" {
		t.Errorf("another call: %v, %q", err, at.Get(id).Content)
	}
}
