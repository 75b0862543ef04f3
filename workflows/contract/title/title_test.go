package title_test

import (
	"strings"
	"testing"

	. "agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
)

func TestATitleIsTheFirstWordsOfAMessageInOneLine(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for name, tt := range map[string]struct {
		in   MessageSignal
		want string
	}{
		"a short message":           {MessageSignal{Text: Inline("list the resources")}, "list the resources"},
		"no text":                   {MessageSignal{}, ""},
		"only space":                {MessageSignal{Text: Inline(" \n\t")}, ""},
		"several lines":             {MessageSignal{Text: Inline("one\r\ntwo\n\n three")}, "one two three"},
		"exactly 80 characters":     {MessageSignal{Text: Inline(strings.Repeat("é", 80))}, strings.Repeat("é", 80)},
		"many words":                {MessageSignal{Text: Inline(long)}, strings.TrimSpace(long[:80]) + "…"},
		"a cut inside a word":       {MessageSignal{Text: Inline(strings.Repeat("a", 70) + " " + strings.Repeat("b", 70))}, strings.Repeat("a", 70) + "…"},
		"one endless word":          {MessageSignal{Text: Inline(strings.Repeat("x", 500))}, strings.Repeat("x", 80) + "…"},
		"control characters":        {MessageSignal{Text: Inline("a\x00b\x1b[31mred\x07")}, "a b [31mred"},
		"a change of direction":     {MessageSignal{Text: Inline("pay \u202eecila\u202c now")}, "pay ecila now"},
		"bytes that are no text":    {MessageSignal{Text: Inline("a\xff\xfeb")}, "ab"},
		"an emoji of several":       {MessageSignal{Text: Inline("👩\u200d🔧 fix")}, "👩\u200d🔧 fix"},
		"what a program put before": {MessageSignal{Text: Inline("[page] /home hello"), Preface: 13}, "hello"},
		"a text in the store":       {MessageSignal{Text: Text{Blob: &Blob{Preview: "the beginning", Size: 9000}}}, "the beginning…"},
		"a preface in the store":    {MessageSignal{Text: Text{Blob: &Blob{Preview: "context"}}, Preface: 5000}, ""},
	} {
		if got := title.Of(tt.in); got != tt.want {
			t.Errorf("%s: %q, expected %q", name, got, tt.want)
		}
	}
}
