package page_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Of larger ones of each kind, some took minutes and others all memory. Here they only have to be short.
func TestTheStructureOfPagesIsBounded(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"columns", "<table><tr><td colspan=100000000>first<td>second", "second"},
		{"rows", "<table><tr><td rowspan=99999999999999999999>first<tr><td>second", "second"},
		{"columns and rows", "<table>" + strings.Repeat("<tr><td colspan=100 rowspan=100>cell", 1000), "cell"},
		{"rows of different lengths", "<table><tr>" + strings.Repeat("<td>a", 2000) + strings.Repeat("<tr><td>cell", 2000), "cell"},
		{"a wide cell", "<table><tr><td>" + strings.Repeat("a", 5000) + strings.Repeat("<tr><td>cell", 1000), "cell"},
		{"quotations", strings.Repeat("<blockquote>", 400) + strings.Repeat("<p>text", 2000), "text"},
		{"lists", strings.Repeat("<ul><li>", 200) + strings.Repeat("<p>text", 2000), "text"},
		{"levels", strings.Repeat("<div>", 480) + strings.Repeat("text ", 20_000), "text"},
		{"levels of tables", strings.Repeat("<table><tr><td>", 120) + "<p>text<!--a--><!--b-->", "text"},
	} {
		p, err := read(t, 200, "text/html", test.body, true)
		if err != nil || !strings.Contains(p.Text, test.want) || len(p.Text) > 300_000 || p.Cut {
			t.Errorf("%s: %v, %d bytes", test.name, err, len(p.Text))
		}
	}
	p, err := read(t, 200, "text/html", "<p>first"+strings.Repeat("<br>", 150_000)+"<p>last", true)
	if err != nil || !p.Cut || p.Text != "first" {
		t.Errorf("many elements: %v, %d bytes", err, len(p.Text))
	}
}

func TestTablesKeepTheirSpans(t *testing.T) {
	p, err := read(t, 200, "text/html", "<table><tr><th colspan=2>a<th>b<tr><td>1<td>2<td>3</table>", true)
	if want := "| a | | b |\n|---|---|---|\n| 1 | 2 | 3 |"; err != nil || strings.ReplaceAll(p.Text, "|  |", "| |") != want {
		t.Errorf("%v %q", err, p.Text)
	}
}

func TestAPageThatTakesTooLongIsAnErrorInTime(t *testing.T) {
	body := strings.Repeat("<blockquote>", 20) + strings.Repeat("<p>a", 10_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	failures := make(chan error, 4) // more than are made text of at a time
	for range cap(failures) {
		go func() {
			_, err := reader(t, time.Minute).Read(ctx, s.URL, true)
			failures <- err
		}()
	}
	for range cap(failures) {
		if err := <-failures; err == nil || err.Error() != "the page took too long" {
			t.Errorf("%v", err)
		}
	}
}
