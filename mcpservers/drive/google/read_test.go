package google_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/drive/google"
	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/drive/store"
)

func TestListInPages(t *testing.T) {
	f := newFixture(t)
	f.at.Folder("zfolder", f.folder)
	f.at.Text("elsewhere", drivetest.Root, "")
	f.at.Put(drivetest.File{Name: "trashed", Type: "text/plain", Parents: []string{f.folder}, Trashed: true})
	for n := range 5 {
		f.at.Text(fmt.Sprint("file ", n), f.folder, "x")
	}
	var names []string
	token := ""
	for {
		list, err := f.List(t.Context(), "", store.Page{Token: token, Limit: 2})
		must(t, err)
		for _, file := range list.Files {
			names = append(names, file.Kind+" "+file.Name)
		}
		if token = list.Next; token == "" {
			break
		}
	}
	if got := strings.Join(names, ", "); got != "folder zfolder, file file 0, file file 1, file file 2, file file 3, file file 4" {
		t.Error(got)
	}
	if _, err := f.List(t.Context(), "", store.Page{Token: "of another listing", Limit: 2}); err == nil || !strings.Contains(err.Error(), "begin again") {
		t.Error(err)
	}
}

func TestSearchFindsWhatIsInTheFolderOnly(t *testing.T) {
	f := newFixture(t)
	for n := range 7 { // more than a page
		f.at.Text(fmt.Sprintf("a plan's %d", n), drivetest.Root, "")
	}
	inner := f.at.Folder("Inner", f.folder)
	in, deep := f.at.Text("the Plan's", f.folder, ""), f.at.Text("Plan's end", inner, "")
	var found []string
	token := ""
	for range 10 {
		list, err := f.Search(t.Context(), "", "plan's", store.Page{Token: token, Limit: 3})
		must(t, err)
		for _, file := range list.Files {
			found = append(found, file.ID)
		}
		if token = list.Next; token == "" {
			break
		}
	}
	if fmt.Sprint(found) != fmt.Sprint([]string{deep, in}) {
		t.Errorf("found %v, want %s and %s", found, deep, in)
	}
	if list, err := f.Search(t.Context(), inner, "plan's", page()); err != nil || len(list.Files) != 1 || list.Files[0].ID != deep {
		t.Errorf("%+v %v", list, err)
	}
}

func TestReadParts(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "0123456789")
	document := f.at.Put(drivetest.File{Name: "Doc", Type: drivetest.TypeDocument, Parents: []string{f.folder}, Content: []byte("0123456789")})
	empty := f.at.Text("empty", f.folder, "")
	for _, c := range []struct {
		id            string
		offset, limit int
		want          string
		more          bool
	}{
		{id, 0, 4, "0123", true}, {id, 4, 6, "456789", false}, {id, 8, 100, "89", false}, {id, 10, 5, "", false}, {id, 1000, 5, "", false},
		{document, 0, 4, "0123", true}, {document, 4, 6, "456789", false}, {document, 1000, 5, "", false}, {empty, 0, 10, "", false},
	} {
		part, err := f.Read(t.Context(), c.id, int64(c.offset), c.limit)
		if err != nil || string(part.Data) != c.want || part.More != c.more || (part.As == "text/plain") != (c.id == document) {
			t.Errorf("%+v: %q %v %v", c, part.Data, part.More, err)
		}
	}
	form := f.at.Put(drivetest.File{Name: "Form", Type: "application/vnd.google-apps.form", Parents: []string{f.folder}})
	if _, err := f.Read(t.Context(), form, 0, 10); err == nil || !strings.Contains(err.Error(), "cannot be read as text") {
		t.Error(err)
	}
	if _, err := f.Read(t.Context(), f.folder, 0, 10); !errors.Is(err, store.ErrFolder) {
		t.Error(err)
	}
}

func TestErrorsOfGoogle(t *testing.T) {
	for _, c := range []struct {
		status   int
		reason   string
		times    int64 // that it fails
		requests int64 // of reading
		want     string
	}{
		{429, "rateLimitExceeded", 2, 3, ""},
		{403, "userRateLimitExceeded", 2, 3, ""},
		{403, "rateLimitExceeded", 1000, 5, "too many requests"},
		{503, "backendError", 2, 3, ""},
		{500, "internalError", 1000, 5, "the answer of Google Drive is 500 internalError: no"},
		{401, "authError", 1, 2, ""},
		{401, "authError", 1000, 2, "the answer of Google Drive is 401 authError: no"},
		{403, "insufficientFilePermissions", 1000, 1, drivetest.Account + " may not do that"},
		{403, "cannotDownloadAbusiveFile", 1000, 1, "cannotDownloadAbusiveFile: no"},
		{403, "storageQuotaExceeded", 1000, 1, "a service account has none of its own"},
		{404, "notFound", 1000, 1, "no such file"},
	} {
		f := newFixture(t)
		id := f.at.Text("a.txt", f.folder, "text")
		var n atomic.Int64
		f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("alt") != "media" || n.Add(1) > c.times {
				return false
			}
			if c.status == 429 {
				w.Header().Set("Retry-After", "0")
			}
			drivetest.Fail(w, c.status, c.reason, "no")
			return true
		}
		_, err := f.Read(t.Context(), id, 0, 10)
		if n.Load() != c.requests || c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d %s: %d requests, %v; want %d, %q", c.status, c.reason, n.Load(), err, c.requests, c.want)
		}
	}
}

// A change that was refused for its rate is sent again: it was not made.
func TestAChangeThatIsRefusedForItsRateIsRepeated(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "one")
	var n atomic.Int64
	f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if isUpload(r) && n.Add(1) <= 2 {
			drivetest.Fail(w, 403, "rateLimitExceeded", "Rate Limit Exceeded")
			return true
		}
		return false
	}
	if _, err := f.Append(t.Context(), addition(id, "two", mark("", ""))); err != nil || f.content(id) != "onetwo" || n.Load() != 3 {
		t.Errorf("%v %q %d", err, f.content(id), n.Load())
	}
}

func TestWaitingEndsWithTheCall(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "one")
	f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Retry-After", "10")
		drivetest.Fail(w, 429, "rateLimitExceeded", "no")
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := f.Stat(ctx, id); err == nil || !strings.Contains(err.Error(), "too many requests") || ctx.Err() != nil {
		t.Errorf("%v %v", err, ctx.Err())
	}
}

func TestTheTokenGoesToNoOtherHost(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "text")
	var leaked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	t.Cleanup(other.Close)
	f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("alt") == "media" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return true
		}
		return false
	}
	if part, err := f.Read(t.Context(), id, 0, 10); err == nil || leaked.Load() > 0 {
		t.Errorf("%+v, %d requests to the other host", part, leaked.Load())
	}
}

func TestOpenReportsWhatIsWrong(t *testing.T) {
	f := newFixture(t)
	for want, change := range map[string]func(*google.Config){
		"is not the ID":     func(c *google.Config) { c.Folder = "root" },
		"not shared with r": func(c *google.Config) { c.Folder = "1test_file_id-999999" },
		"is not a folder":   func(c *google.Config) { c.Folder = f.at.Text("a", drivetest.Root, "") },
		"in the trash": func(c *google.Config) {
			c.Folder = f.at.Put(drivetest.File{Name: "t", Type: drivetest.TypeFolder, Trashed: true})
		},
		"invalid_grant": func(c *google.Config) {
			key, err := drivetest.KeyFile(c.Endpoint)
			must(t, err)
			c.Credential, err = google.NewServiceAccount([]byte(strings.Replace(string(key), drivetest.Account, "nobody@tests.test", 1)), "")
			must(t, err)
		},
	} {
		config := f.config
		change(&config)
		if _, err := google.Open(t.Context(), config, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// A server that is away may come back.
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	config := f.config
	config.Endpoint = away.URL
	if _, err := google.Open(t.Context(), config, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
	if _, err := google.NewServiceAccount([]byte(`{"type":"authorized_user"}`), ""); err == nil {
		t.Error("a key file of a person is taken")
	}
}
