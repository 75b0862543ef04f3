package builtin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/builtin"
	"agent-stop-and-go/mcpservers/hosting/reach"
)

func TestFetchReadsPagesAndNothingInside(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			fmt.Fprint(w, "ééé")
		}
	}))
	defer s.Close()
	own, err := reach.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	open := builtin.NewFetcher(own)
	if got, err := builtin.Fetch(open, t.Context(), builtin.FetchInput{URL: s.URL, MaxLength: 5}); err != nil || got.Text != "éé" || !got.Cut || got.Status != 200 {
		t.Errorf("%+v %v", got, err)
	}
	for url, want := range map[string]string{s.URL + "/loop": "more than five redirects", "file:///etc/passwd": "must begin with http", "x": "must begin with http"} {
		if got, err := builtin.Fetch(open, t.Context(), builtin.FetchInput{URL: url}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v %v", url, got, err)
		}
	}
	if got, err := builtin.Fetch(builtin.NewFetcher(reach.Rules{}), t.Context(), builtin.FetchInput{URL: s.URL}); err == nil || !strings.Contains(err.Error(), "is not an address of the Internet") {
		t.Errorf("%+v %v", got, err)
	}
}

func TestWhatIsNotBuiltInIsAnError(t *testing.T) {
	if tools, err := builtin.Tools([]string{"fetch", "echo", "echo"}); err != nil || len(tools) != 2 {
		t.Errorf("%v %v", tools, err)
	}
	for _, name := range []string{"sqlite", "x"} {
		if _, err := builtin.Tools([]string{name}); err == nil || !strings.Contains(err.Error(), name) {
			t.Error(err)
		}
	}
}
