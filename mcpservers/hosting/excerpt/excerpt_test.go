package excerpt_test

import (
	"testing"
	"unicode/utf8"

	"agent-stop-and-go/mcpservers/hosting/excerpt"
)

func TestTextsEndAtACharacter(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
		cut   bool
	}{
		{"abc", 3, "abc", false}, {"abc", 2, "ab", true}, {"ééé", 5, "éé", true}, {"ééé", 4, "éé", true}, {"ééé", 6, "ééé", false},
		{"a€", 3, "a", true}, {"a€", 2, "a", true}, {"😀", 3, "", true}, {"", 0, "", false}, {"é", 0, "", true},
		{"a\xff\xffb", 3, "a\uFFFD", true}, {"a\x80\x80\x80\x80\x80", 5, "a\uFFFD", true}, {"\xffx", 9, "\uFFFDx", false},
	} {
		if got, cut := excerpt.Bytes([]byte(test.text), test.limit); got != test.want || cut != test.cut || !utf8.ValidString(got) {
			t.Errorf("%q to %d: %q %t", test.text, test.limit, got, cut)
		}
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]string{" a\n\tb ": "a b", "äöü ß x": "äöü ß…", "": "", "a\xffb": "a\uFFFDb"} {
		if got := excerpt.Line(text, 5); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
