package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/gateway/web"
)

// far is an agent that keeps what it was asked.
type far struct {
	*httptest.Server
	closed atomic.Bool // it asks who calls
	serve  http.HandlerFunc

	mu   sync.Mutex
	last *http.Request
	body string
}

func newFar(t *testing.T) *far {
	f := &far{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"helper <b>","description":"helps","version":"v9","links":{"docs":"docs","temporal_workflows":"http://t/"}}`)
	})
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		if f.closed.Load() && r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprint(w, `{"authenticated":false}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.last, f.body = r, string(body)
		serve := f.serve
		f.mu.Unlock()
		if serve != nil {
			serve(w, r)
			return
		}
		fmt.Fprint(w, `{"from":"the agent"}`)
	})
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

func (f *far) got() (*http.Request, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.body
}

// near serves an agent.
func near(t *testing.T, f *far, change ...func(*web.Options)) *httptest.Server {
	t.Helper()
	at, err := url.Parse(f.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := web.Options{Agent: at, Logger: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	s := web.New(o)
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.Close() })
	return server
}

type answer struct {
	*http.Response
	text string
}

// send sends a request. Headers are "Name: value".
func send(t *testing.T, method, address, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Add(name, value); name == "Host" {
			r.Host = value
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{reply, string(text)}
}

func TestThePageIsThatOfTheAgent(t *testing.T) {
	f := newFar(t)
	w := near(t, f)
	home := send(t, "GET", w.URL, "", "Accept: text/html")
	for _, want := range []string{"helper &lt;b&gt;", "helps", "v9", `href="docs"`, "page/bundle.js"} {
		if !strings.Contains(home.text, want) {
			t.Errorf("the document lacks %s", want)
		}
	}
	if strings.Contains(home.text, "tool-login") || strings.Contains(home.text, "http://t/") {
		t.Errorf("the document has too much: %s", home.text)
	}
	if policy := home.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "require-trusted-types-for") || home.Header.Get("X-Frame-Options") == "" {
		t.Errorf("headers %v", home.Header)
	}
	if script := send(t, "GET", w.URL+"/page/bundle.js", ""); script.StatusCode != 200 || len(script.text) < 1000 {
		t.Errorf("the script is answered with %d", script.StatusCode)
	}
	if none := send(t, "GET", w.URL+"/page/none.js", ""); none.StatusCode != 404 {
		t.Errorf("another file is answered with %d", none.StatusCode)
	}
	if links := send(t, "GET", w.URL+"/?", "", "Accept: application/json"); !strings.Contains(links.text, `"name":"helper <b>"`) {
		t.Errorf("programs get %s", links.text)
	}
}

func TestThePageIsThereWithoutTheAgent(t *testing.T) {
	f := newFar(t)
	w := near(t, f)
	f.Close()
	if home := send(t, "GET", w.URL, "", "Accept: text/html"); home.StatusCode != 200 || !strings.Contains(home.text, "<title>Agent</title>") {
		t.Errorf("%d %s", home.StatusCode, home.text)
	}
	if r := send(t, "GET", w.URL+"/conversations", ""); r.StatusCode != 502 || !strings.Contains(r.text, `{"error":"the agent cannot be reached`) || strings.Contains(r.text, "127.0.0.1") {
		t.Errorf("%d %s", r.StatusCode, r.text)
	}
	if r := send(t, "GET", w.URL+"/health", "", "Host: 10.0.0.1"); r.StatusCode != 200 || !strings.Contains(r.text, `"ok"`) {
		t.Errorf("health: %d %s", r.StatusCode, r.text)
	}
}

func TestRequestsReachTheAgentAsTheAPIHasThem(t *testing.T) {
	f := newFar(t)
	w := near(t, f, func(o *web.Options) { o.Headers = []string{"x-subject"} })
	r := send(t, "POST", w.URL+"/conversations/a%2Fb/messages?x=1", `{"message":"hello"}`, "Content-Type: application/json", "Idempotency-Key: k", "X-CSRF-Token: c",
		"Cookie: agent_session_8080=s", "X-Subject: alice", "X-Groups: ops", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: evil.example.com", "Origin: "+w.URL, "Sec-Fetch-Site: same-origin", "Referer: "+w.URL)
	if r.StatusCode != 200 || r.text != `{"from":"the agent"}` {
		t.Fatalf("%d %s", r.StatusCode, r.text)
	}
	got, body := f.got()
	if got.RequestURI != "/conversations/a%2Fb/messages?x=1" || got.Host != strings.TrimPrefix(f.URL, "http://") || body != `{"message":"hello"}` {
		t.Errorf("%s at %s with %s", got.RequestURI, got.Host, body)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Idempotency-Key": "k", "X-Csrf-Token": "c", "Cookie": "agent_session_8080=s", "X-Subject": "alice",
		"X-Groups": "", "Origin": "", "Sec-Fetch-Site": "", "Referer": "", "Authorization": "", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want)
		}
	}
}

func TestRequestsOfOtherPagesAndNames(t *testing.T) {
	f := newFar(t)
	w := near(t, f, func(o *web.Options) { o.Hosts = []string{"chat.example.com"} })
	for _, headers := range [][]string{
		{"Host: evil.example.com"}, {"Origin: https://evil.example.com"}, {"Sec-Fetch-Site: cross-site"},
	} {
		if r := send(t, "GET", w.URL+"/conversations", "", headers...); r.StatusCode != 421 && r.StatusCode != 403 || !strings.Contains(r.text, `"error"`) {
			t.Errorf("%v: %d %s", headers, r.StatusCode, r.text)
		}
	}
	if r := send(t, "GET", w.URL+"/conversations", "", "Host: chat.example.com", "Origin: https://chat.example.com"); r.StatusCode != 200 {
		t.Errorf("its own name: %d %s", r.StatusCode, r.text)
	}
	if got, _ := f.got(); got == nil {
		t.Error("the agent was not asked")
	}
}

func TestStreamsAreNotHeldBackAndEndWithTheProcess(t *testing.T) {
	f := newFar(t)
	step := make(chan string)
	gone := make(chan bool, 1)
	f.serve = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for {
			select {
			case text := <-step:
				fmt.Fprint(w, text)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				gone <- true
				return
			}
		}
	}
	at, _ := url.Parse(f.URL)
	s := web.New(web.Options{Agent: at, Logger: slog.New(slog.DiscardHandler)})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- web.Serve(ctx, l, s) }()
	r, _ := http.NewRequest("GET", "http://"+l.Addr().String()+"/conversations/x/events", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", "p7")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if got, _ := f.got(); got.Header.Get("Last-Event-ID") != "p7" {
		t.Errorf("the position is %q", got.Header.Get("Last-Event-ID"))
	}
	lines := bufio.NewReader(reply.Body)
	for _, want := range []string{"data: 1\n", "data: 2\n"} {
		step <- want
		if line, err := lines.ReadString('\n'); line != want || err != nil {
			t.Fatalf("%q, %v", line, err)
		}
	}
	cancel()
	for range 2 {
		select {
		case err := <-served:
			if err != nil {
				t.Error(err)
			}
			served = nil
		case <-gone:
			gone = nil
		case <-time.After(20 * time.Second):
			t.Fatal("the stream goes on")
		}
	}
}

// Browsers may read a header that is there twice as one that is not there.
func TestHeadersOfSecurityAreThereOnce(t *testing.T) {
	f := newFar(t)
	f.serve = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Frame-Options", "SAMEORIGIN")
		w.Header().Set("X-Content-Type-Options", "nosniff")
	}
	w := near(t, f, func(*web.Options) {})
	r := send(t, "GET", w.URL+"/docs", "")
	for name, want := range map[string]string{"X-Frame-Options": "SAMEORIGIN", "X-Content-Type-Options": "nosniff"} {
		if got := r.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestRedirectsOfTheAgentLeadHere(t *testing.T) {
	f := newFar(t)
	w := near(t, f, func(o *web.Options) { o.Base = "https://chat.example.com/x" })
	for location, want := range map[string]string{
		f.URL + "/conversations/1": "https://chat.example.com/x/conversations/1", "https://login.example.com/": "https://login.example.com/", f.URL + "0/": f.URL + "0/",
	} {
		f.mu.Lock()
		f.serve = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(202)
		}
		f.mu.Unlock()
		if r := send(t, "POST", w.URL+"/conversations", ""); r.Header.Get("Location") != want {
			t.Errorf("%s: %s", location, r.Header.Get("Location"))
		}
		if got, _ := f.got(); got.Header.Get("X-Forwarded-Proto") != "https" {
			t.Errorf("the agent takes the browser for one without TLS")
		}
	}
}

// A line of the log has the session that the agent names, and no query.
func TestLinesOfTheLog(t *testing.T) {
	f := newFar(t)
	f.serve = func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Session-ID", "s1") }
	var log strings.Builder
	var mu sync.Mutex
	w := near(t, f, func(o *web.Options) {
		o.Logger = slog.New(slog.NewTextHandler(writer(func(p []byte) { mu.Lock(); defer mu.Unlock(); log.Write(p) }), nil))
	})
	send(t, "GET", w.URL+"/conversations?code=s3cret", "")
	deadline := time.Now().Add(5 * time.Second)
	for ; time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		mu.Lock()
		text := log.String()
		mu.Unlock()
		if strings.Contains(text, "path=/conversations status=200") {
			if strings.Contains(text, "s3cret") || !strings.Contains(text, "sid=s1") {
				t.Error(text)
			}
			return
		}
	}
	t.Error("nothing is logged")
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(slices.Clone(p)); return len(p), nil }
