package page_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting/reach"
	"agent-stop-and-go/mcpservers/web/page"

	"github.com/google/go-cmp/cmp"
)

// read reads a page of a server whose response is a media type and a body.
func read(t *testing.T, status int, contentType, body string, whole bool) (page.Page, error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		if contentType == "" {
			w.Header()["Content-Type"] = nil
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	p, err := reader(t, 5*time.Second).Read(t.Context(), s.URL+"/a/page", whole)
	p.URL = strings.TrimPrefix(p.URL, s.URL)
	for i := range p.Links {
		p.Links[i] = strings.TrimPrefix(p.Links[i], s.URL)
	}
	return p, err
}

func reader(t *testing.T, timeout time.Duration) page.Reader {
	t.Helper()
	rules, err := reach.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return page.Reader{Client: rules.Client(timeout), MaxBytes: 1 << 20, UserAgent: "test"}
}

func article(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/article.html")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnArticleIsReadWithoutItsSurroundings(t *testing.T) {
	p, err := read(t, 200, "text/html; charset=utf-8", article(t), false)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/article.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), p.Text+"\n"); diff != "" {
		t.Error(diff)
	}
	p.Text = ""
	if diff := cmp.Diff(page.Page{
		URL: "/a/page", Type: "text/html", Title: "Programs that go on", Byline: "Ada Example", Site: "The Example", Published: "2026-03-01",
		Links: []string{"/a/history", "https://example.com/?a=1&b=2", "mailto:ada@example.com"},
	}, p); diff != "" {
		t.Error(diff)
	}
}

func TestAWholePageHasItsMenus(t *testing.T) {
	p, err := read(t, 200, "text/html", article(t), true)
	if err != nil || !p.Whole || !strings.Contains(p.Text, "Home [1]") || !strings.Contains(p.Text, "All rights reserved") || strings.Contains(p.Text, "tracking()") || strings.Contains(p.Text, ".menu") {
		t.Errorf("%v %s", err, p.Text)
	}
	short, err := read(t, 200, "text/html", `<title>T</title><base href="/b/"><ul><li><a href="x">one</a><li><a href="#top">two</a><li><a href="javascript:x()">three</a></ul>`, false)
	if err != nil || short.Text != "- one [1]\n- two\n- three" || short.Links[0] != "/b/x" {
		t.Errorf("%v %+v", err, short)
	}
}

func TestTexts(t *testing.T) {
	for _, test := range []struct{ contentType, body, kind, text string }{
		{"text/plain; charset=iso-8859-1", "caf\xe9", "text/plain", "café"},
		{"text/plain; charset=utf-8", "a\xffb", "text/plain", "a\uFFFDb"},
		{"application/json", `{"a":"é"}`, "application/json", `{"a":"é"}`},
		{"application/problem+json", `{}`, "application/problem+json", `{}`},
		{"application/rss+xml", `<rss/>`, "application/rss+xml", `<rss/>`},
		{"", "just text", "text/plain", "just text"},
		{"", "<!doctype html><p>hello", "text/html", "hello"},
		{"text/html; charset=windows-1252", "<p>\x93caf\xe9\x94", "text/html", "“café”"},
		{"text/html", "<meta charset=iso-8859-1><p>caf\xe9", "text/html", "café"},
		{"text/html", "", "text/html", ""},
	} {
		p, err := read(t, 200, test.contentType, test.body, false)
		if err != nil || p.Type != test.kind || p.Text != test.text {
			t.Errorf("%s: %v %+v", test.contentType, err, p)
		}
	}
}

func TestWhatIsNoTextIsAnError(t *testing.T) {
	for _, test := range []struct {
		status            int
		contentType, body string
		want              string
	}{
		{200, "image/png", "\x89PNG", "no text but image/png"}, {200, "application/pdf", "%PDF", "no text but application/pdf"}, {200, "application/octet-stream", "x", "no text but"},
		{200, "", "\x89PNG\r\n\x1a\n", "no text"}, {200, "video", "x", "video"}, {200, ";;", "x", "malformed"}, {200, "image/svg+xml", "<svg/>", "no text but"},
		{404, "text/html", "<title>Nothing here</title><p>Sorry", "404 Not Found: Nothing here Sorry"}, {500, "application/json", `{"error":"x"}`, `500 Internal Server Error: {"error":"x"}`},
	} {
		if _, err := read(t, test.status, test.contentType, test.body, false); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.contentType, err)
		}
	}
}

func TestLargeAndHostilePages(t *testing.T) {
	p, err := read(t, 200, "text/plain", strings.Repeat("ä", 1<<20), false)
	if err != nil || !p.Cut || len(p.Text) != 1<<20 {
		t.Errorf("%v %t %d", err, p.Cut, len(p.Text))
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 100 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path == "/slow" {
			for r.Context().Err() == nil {
				fmt.Fprint(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	defer s.Close()
	if p, err := reader(t, 5*time.Second).Read(t.Context(), s.URL, false); err != nil || !p.Cut || len(p.Text) != 1<<20 {
		t.Errorf("a bomb: %v %t %d", err, p.Cut, len(p.Text))
	}
	if _, err := reader(t, 50*time.Millisecond).Read(t.Context(), s.URL+"/slow", false); err == nil || err.Error() != "the page took too long" {
		t.Errorf("a slow page: %v", err)
	}
	for name, body := range map[string]string{
		"deep":     strings.Repeat("<div>", 100_000),
		"deep b":   strings.Repeat("<b><p>", 50_000),
		"wide":     strings.Repeat("<p>x<a href=x>y</a>", 30_000),
		"links":    strings.Repeat("<a href=?>y</a>", 60_000),
		"tables":   strings.Repeat("<table><tr><td>", 10_000),
		"unclosed": "<p>" + strings.Repeat("<", 500_000),
	} {
		begin := time.Now()
		p, err := read(t, 200, "text/html", body, false)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		if err != nil && err.Error() != "the page is nested too deeply" || len(p.Text) > 1<<20 {
			t.Errorf("%s: %v, %d bytes", name, err, len(p.Text))
		}
	}
}
