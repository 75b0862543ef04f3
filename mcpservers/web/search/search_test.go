package search_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/web/search"

	"github.com/google/go-cmp/cmp"
)

const key = "secret-key-4711"

// provider is a provider as its document has it: what it is sent, and what it answers with.
type provider struct {
	method, path, header, body string // body as JSON, or a form
	answer                     string // file in testdata
	want                       search.Results
}

// The files in testdata are responses in the form of the documents named in doc.go, with texts of our own.
var providers = map[string]provider{
	search.Tavily: {
		"POST", "/search", "Authorization: Bearer " + key, `{"max_results":5,"query":"durable \"execution\"","search_depth":"basic"}`, "tavily.json",
		search.Results{Hits: []search.Hit{{"Durable execution", "https://example.com/durable", "A crash is not the end of a program."}, {"https://example.org/untitled", "https://example.org/untitled", "No title."}}},
	},
	search.Google: {
		"POST", "/v1beta/models/gemini-2.5-flash:generateContent", "X-Goog-Api-Key: " + key,
		`{"contents":[{"parts":[{"text":"durable \"execution\""}],"role":"user"}],"tools":[{"google_search":{}}]}`, "google.json",
		search.Results{Answer: "Programs go on after a crash. They keep a history.", Queries: []string{"durable execution"}, Hits: []search.Hit{
			{"example.com", "https://vertexaisearch.cloud.google.com/grounding-api-redirect/AAA", "Programs go on after a crash. They keep a history."},
			{"example.org", "https://vertexaisearch.cloud.google.com/grounding-api-redirect/BBB", "They keep a history."},
		}},
	},
	search.XAI: {
		"POST", "/v1/responses", "Authorization: Bearer " + key,
		`{"input":[{"content":"durable \"execution\"","role":"user"}],"model":"grok-4-1-fast","store":false,"tools":[{"type":"web_search"}]}`, "xai.json",
		search.Results{Answer: "Programs go on after a crash.[[1]](https://example.com/durable)", Hits: []search.Hit{
			{"https://example.com/durable", "https://example.com/durable", ""}, {"History", "https://example.org/history", ""}, {"https://example.net/seen", "https://example.net/seen", ""},
		}},
	},
	search.SearXNG: {
		"GET", "/search?format=json&q=durable+%22execution%22", "Accept: application/json", "", "searxng.json",
		search.Results{Answer: "a way of running programs", Hits: []search.Hit{{"Durable execution", "https://example.com/durable", "A crash is not the end."}, {"History", "https://example.org/history", ""}}},
	},
	search.DuckDuckGo: {
		"POST", "/", "Content-Type: application/x-www-form-urlencoded", `b=&kl=wt-wt&q=durable+%22execution%22`, "duckduckgo.html",
		search.Results{Hits: []search.Hit{{"Durable & execution", "https://example.com/durable?a=1&b=2", "A crash is not the end of a program."}, {"History", "https://example.org/history", ""}}},
	},
}

func getenv(name string) string {
	if strings.HasSuffix(name, "_API_KEY") {
		return key
	}
	return ""
}

func engine(t *testing.T, c search.Config) *search.Engine {
	t.Helper()
	e, err := search.New(c, getenv, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestProviders(t *testing.T) {
	for name, p := range providers {
		t.Run(name, func(t *testing.T) {
			answer, err := os.ReadFile(filepath.Join("testdata", p.answer))
			if err != nil {
				t.Fatal(err)
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				header, value, _ := strings.Cut(p.header, ": ")
				if r.Method != p.method || r.URL.RequestURI() != p.path || r.Header.Get(header) != value || canonical(body) != p.body {
					t.Errorf("%s %s, %s %q, %s", r.Method, r.URL.RequestURI(), header, r.Header.Get(header), body)
				}
				_, _ = w.Write(answer)
			}))
			defer s.Close()
			got, err := engine(t, search.Config{Provider: name, URL: s.URL + "/"}).Search(t.Context(), `durable "execution"`, 5)
			if diff := cmp.Diff(p.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if name == search.Tavily { // whose request says how many
				return
			}
			one, err := engine(t, search.Config{Provider: name, URL: s.URL}).Search(t.Context(), `durable "execution"`, 1)
			if err != nil || len(one.Hits) != 1 {
				t.Errorf("one result: %+v %v", one, err)
			}
		})
	}
}

// canonical sorts the keys of JSON, and leaves other texts.
func canonical(body []byte) string {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return string(body)
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func TestFailuresOfProviders(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed with %v", r.Header)
	}))
	defer elsewhere.Close()
	for _, test := range []struct {
		provider string
		status   int
		body     string
		want     string
	}{
		{search.Tavily, 401, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`, "tavily: 401 Unauthorized: Unauthorized: missing or invalid API key."},
		{search.Tavily, 422, `{"detail":"query is too long"}`, "422 Unprocessable Entity: query is too long"},
		{search.Tavily, 429, `{}`, "429 Too Many Requests (try again after 7)"},
		{search.Tavily, 400, `{"error":"key ` + key + ` is wrong"}`, "key … is wrong"},
		{search.Tavily, 401, `{"error":"` + strings.Repeat("x", 290) + key + `"}`, "xx…"},
		{search.XAI, 200, `<html>` + strings.Repeat("x", 185) + `Authorization: Bearer ` + key, "not the JSON"},
		{search.XAI, 200, `<html>` + strings.Repeat("x", 188) + key, "xx…"},
		{search.Google, 400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}`, "google: 400 Bad Request: API key not valid."},
		{search.Google, 200, `{"promptFeedback":{"blockReason":"SAFETY"}}`, "the model gave no answer: SAFETY"},
		{search.Google, 200, `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`, "no answer: MAX_TOKENS"},
		{search.XAI, 403, `{"code":"The caller does not have permission","error":"no credits"}`, "xai: 403 Forbidden: no credits"},
		{search.XAI, 200, `{"output":[]}`, "the model gave no answer"},
		{search.XAI, 200, `<html>`, "not the JSON that was expected: <html>"},
		{search.SearXNG, 403, `<!doctype html>`, "search.formats in the settings of the instance must list json"},
		{search.SearXNG, 200, `{"results":[],"unresponsive_engines":[["google","timeout"]]}`, "no engine of the instance answered: [[google timeout]]"},
		{search.DuckDuckGo, 200, `<form id="challenge-form">`, "takes this for a robot"},
		{search.DuckDuckGo, 202, ``, "takes this for a robot"},
		{search.DuckDuckGo, 200, `<p>hello`, "not one of results"},
		{search.DuckDuckGo, 303, ``, "303 See Other"},
		{search.Tavily, 307, ``, "307 Temporary Redirect"},
		{search.Tavily, 200, strings.Repeat(" ", 5<<20), "more than 4194304 bytes"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.Header().Set("Retry-After", "7")
			if test.status != 429 {
				w.Header().Del("Retry-After")
			}
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}))
		_, err := engine(t, search.Config{Provider: test.provider, URL: s.URL}).Search(t.Context(), "q", 5)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), key[:4]) {
			t.Errorf("%s %d: %v, expected %s", test.provider, test.status, err, test.want)
		}
		s.Close()
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	_, err := engine(t, search.Config{Provider: search.SearXNG, URL: gone.URL}).Search(t.Context(), "a secret query", 5)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestNoResultsAreNoError(t *testing.T) {
	for name, body := range map[string]string{search.Tavily: `{"results":[]}`, search.SearXNG: `{"results":[]}`, search.DuckDuckGo: `<div id="links"><div class="no-results">No results.</div></div>`} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		got, err := engine(t, search.Config{Provider: name, URL: s.URL}).Search(t.Context(), "q", 5)
		if err != nil || len(got.Hits) != 0 || got.Hits == nil {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		s.Close()
	}
}

func TestMistakesInConfigurations(t *testing.T) {
	for want, c := range map[string]search.Config{
		`provider "bing" is unknown`: {Provider: "bing"}, "must be http://HOST": {Provider: search.Tavily, URL: "tavily.com"},
		"has no key": {Provider: search.DuckDuckGo, KeyEnv: "X"}, "has no model": {Provider: search.Tavily, Model: "x"},
		"depth is for tavily": {Provider: search.Google, Depth: "basic"}, "depth is for tavily: basic": {Provider: search.Tavily, Depth: "deep"},
		"environment variable NO_SUCH is empty": {Provider: search.Tavily, KeyEnv: "NO_SUCH"}, "SEARXNG_URL": {Provider: search.SearXNG},
	} {
		if _, err := search.New(c, getenv, http.DefaultClient); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestProvidersOfTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, []string{search.DuckDuckGo}},
		{map[string]string{"XAI_API_KEY": "x", "GOOGLE_API_KEY": "x"}, []string{search.Google, search.XAI}},
		{map[string]string{"SEARXNG_URL": "http://x", "TAVILY_API_KEY": "x"}, []string{search.Tavily, search.SearXNG}},
	} {
		var got []string
		for _, c := range search.Default(func(name string) string { return test.env[name] }) {
			got = append(got, c.Provider)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: %s", test.env, diff)
		}
	}
}
