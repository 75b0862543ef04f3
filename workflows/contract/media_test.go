package contract_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestTheNameOfAFileIsNoPlace(t *testing.T) {
	for said, want := range map[string][2]string{
		"":                              {"", ""},
		"report.txt":                    {"report.txt", ""},
		"../../etc/passwd":              {"passwd", ""},
		`C:\\docs\\report.txt`:          {"report.txt", ""},
		"a: b.txt":                      {"a: b.txt", ""},
		"file:///output.txt":            {"output.txt", "file:///output.txt"},
		"https://x.example/a%20b.txt?c": {"a b.txt", "https://x.example/a%20b.txt?c"},
		"https://x.example/":            {"x.example", "https://x.example/"},
		"https://x.example/a%2F..":      {"", "https://x.example/a%2F.."},
		"urn:isbn:1":                    {"isbn:1", "urn:isbn:1"},
	} {
		m := contract.Media{Name: said}
		if got := [2]string{m.FileName(), m.URI()}; got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
	for l, want := range map[contract.Link]string{
		{URI: "file:///a/b.txt"}:                    "b.txt",
		{URI: "file:///a/b.txt", Name: "The file"}:  "The file",
		{URI: "demo://resource/1", Name: "a/c.txt"}: "c.txt",
	} {
		if got := l.FileName(); got != want {
			t.Errorf("%+v: got %q, want %q", l, got, want)
		}
	}
}
