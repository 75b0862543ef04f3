package agentapi

import (
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"agent-stop-and-go/gateway/sse"
)

// decode reads tokens as the shell does (llmem-gw, shell.py, sse_listener): it strips each line, and
// \n is the end of a line. httpx ends lines where Python's splitlines does.
func decode(stream string) string {
	var out strings.Builder
	for _, line := range strings.FieldsFunc(stream, endsLine) {
		line = strings.TrimFunc(line, unicode.IsSpace)
		raw, ok := strings.CutPrefix(line, "data:")
		if !ok {
			continue
		}
		out.WriteString(strings.ReplaceAll(strings.TrimPrefix(raw, " "), `\n`, "\n"))
	}
	return out.String()
}

// A text arrives as it was, whatever the pieces are in which it comes.
func TestTheShellReadsWhatWasSaid(t *testing.T) {
	for _, text := range []string{
		"Hello world", `C:\new\next`, "a\nb\n\nc", `\n`, "two  spaces\tand a tab", "  at the beginning", `ends with \`, "ä ▶ 日本", `\\n`, "x\r\ny",
	} {
		for _, size := range []int{1, 2, 3, 1000} {
			w := httptest.NewRecorder()
			f := &shellForm{Writer: sse.New(w, 200, t.Context()), id: func(string) string { return "1" }}
			for rest := []rune(text); len(rest) > 0; {
				n := min(size, len(rest))
				if err := f.Token(string(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			want := strings.ReplaceAll(text, "\r\n", "\n")
			got := strings.ReplaceAll(decode(w.Body.String()), "\n\n\n", "\n\n")
			if size < 1000 && strings.Contains(text, "\r") { // cut between the two
				want, got = strings.ReplaceAll(want, "\n", ""), strings.ReplaceAll(got, "\n", "")
			}
			if got != want {
				t.Errorf("%q in pieces of %d is %q", text, size, got)
			}
		}
	}
}

func TestSeparatorsOfLinesAreOne(t *testing.T) {
	w := httptest.NewRecorder()
	f := &shellForm{Writer: sse.New(w, 200, t.Context()), id: func(string) string { return "1" }}
	if err := f.Token("a\u2028b\u0085c\vd"); err != nil {
		t.Fatal(err)
	}
	if got := decode(w.Body.String()); got != "a\nb\nc\nd" {
		t.Errorf("%q", got)
	}
}
