package google_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/mcpservers/drive/google"
	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting/auth"
)

func TestOnlyLoginsOfOurProgramsAreTaken(t *testing.T) {
	at := drivetest.New()
	var asked atomic.Int64
	at.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.FormValue("access_token") == "broken" {
			drivetest.Fail(w, 503, "backendError", "no")
			return true
		}
		asked.Add(1)
		return false
	}
	s := httptest.NewServer(at)
	defer s.Close()
	for value, token := range map[string]drivetest.Token{
		"alice":         {Audience: "ours", Subject: "1", Scope: "openid " + google.Scope},
		"other-program": {Audience: "theirs", Subject: "1", Scope: google.Scope},
		"other-scope":   {Audience: "ours", Subject: "1", Scope: "openid"},
	} {
		at.Issue(value, token)
	}
	guard := google.NewGuard(google.Login{ClientIDs: []string{"ours"}, Endpoint: s.URL})
	handler := guard.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, auth.Caller(r.Context())) }))
	for token, want := range map[string]int{"alice": 200, "other-program": 401, "other-scope": 403, "made-up": 401, "": 401, "broken": 500} {
		r := httptest.NewRequest(http.MethodPost, "http://files.test/mcp", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want || want == 200 && w.Body.String() != "1" || strings.Contains(w.Body.String(), "access_token") {
			t.Errorf("%q: %d %s, want %d", token, w.Code, w.Body, want)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); (want == 401 || want == 403) && !(strings.Contains(challenge, google.Scope) && strings.Contains(challenge, "http://files.test/.well-known/oauth-protected-resource/mcp")) {
			t.Errorf("%q: challenge %s", token, challenge)
		}
	}
	before := asked.Load()
	r := httptest.NewRequest(http.MethodPost, "http://files.test/mcp", nil)
	r.Header.Set("Authorization", "Bearer alice")
	handler.ServeHTTP(httptest.NewRecorder(), r)
	if asked.Load() != before {
		t.Error("a token is asked for with every call")
	}
}

// What one caller has seen of the folder is not used for another one.
func TestEachCallerHasTheirOwnLogin(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "text")
	f.at.Issue("alice", drivetest.Token{Audience: "ours"})
	d := reopened(t, f, func(c *google.Config) { c.Credential = google.OfCaller{} })
	if _, err := d.Read(google.WithToken(t.Context(), "alice"), id, 0, 10); err != nil {
		t.Error(err)
	}
	for _, token := range []string{"", "bob"} {
		if _, err := d.Read(google.WithToken(t.Context(), token), id, 0, 10); err == nil || token == "bob" && !strings.Contains(err.Error(), "log in again") {
			t.Errorf("%q: %v", token, err)
		}
	}
	if _, err := d.Stat(t.Context(), id); err == nil {
		t.Error("a call without a caller is made")
	}
	if _, err := d.Append(google.WithToken(t.Context(), "alice"), store.Addition{ID: id, Content: []byte("!"), Mark: mark("", "")}); err != nil || f.content(id) != "text!" {
		t.Error(err)
	}
}
