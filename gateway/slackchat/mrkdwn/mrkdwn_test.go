package mrkdwn_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"agent-stop-and-go/gateway/slackchat/mrkdwn"
)

func TestWhatOthersWriteMentionsNobody(t *testing.T) {
	for _, text := range []string{"<!channel> now", "<@U123>", "<https://evil.example|your bank>", "```\n<!here>\n```", "# <!everyone>", "**<!channel>**", "[<!here>](https://a.example)", "&lt;!channel&gt;"} {
		got := mrkdwn.FromMarkdown(text)
		if strings.ContainsAny(got, "<>") {
			t.Errorf("%q: %q has markup", text, got)
		}
	}
	if got := mrkdwn.FromMarkdown("&lt;!channel&gt;"); got != "&amp;lt;!channel&amp;gt;" {
		t.Errorf("what looks escaped is read as markup: %q", got)
	}
	if got := mrkdwn.Code("a`<!here>\nb"); got != "`a'&lt;!here&gt; b`" {
		t.Errorf("code: %q", got)
	}
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"# Title":                     "*Title*",
		"a **b** c":                   "a *b* c",
		"- one\n* two":                "• one\n• two",
		"[docs](https://a.example/x)": "docs (https://a.example/x)",
		"```go\n**x**\n```\n**y**":    "```\n**x**\n```\n*y*",
		"2 < 3 && 5 > 4":              "2 &lt; 3 &amp;&amp; 5 &gt; 4",
		"[bank](javascript:alert(1))": "[bank](javascript:alert(1))",
		"## **Bold** heading ##":      "*Bold heading*",
		"plain":                       "plain",
	} {
		if got := mrkdwn.FromMarkdown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"<@UBOT> hello":                            "hello",
		"hello <@UBOT>":                            "hello",
		"ask <@U2> &amp; go &lt;b&gt;":             "ask @U2 & go <b>",
		"see <https://a.example/x|a.example/x>":    "see https://a.example/x",
		"in <#C1|general> or <#C2>":                "in #general or #C2",
		"<!here> <mailto:a@b.example|a@b.example>": "@here a@b.example",
	} {
		if got := mrkdwn.Plain(text, "UBOT"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLongTextsAreCutAtBlocks(t *testing.T) {
	text := strings.Repeat("word ", 30) + "\n\n" + "```\n" + strings.Repeat("code line\n", 60) + "```\n\nend"
	pieces := mrkdwn.Split(text, 300)
	if len(pieces) < 3 {
		t.Fatalf("%d pieces", len(pieces))
	}
	for i, p := range pieces {
		if len(p) > 300 || strings.Count(p, "```")%2 != 0 || strings.TrimSpace(p) == "" {
			t.Errorf("piece %d of %d bytes: %q", i, len(p), p)
		}
	}
	if !strings.HasSuffix(pieces[len(pieces)-1], "end") || strings.Count(strings.Join(pieces, ""), "code line") != 60 {
		t.Errorf("text is lost: %q", pieces)
	}
}

// Nothing is cut inside a character, escaped or of several bytes, and no text is lost.
func TestPiecesAreWhole(t *testing.T) {
	for _, unit := range []string{"ä", "€", "🎉", "&lt;", "&amp;", "x"} {
		text := strings.Repeat(unit, 500)
		for limit := 100; limit < 110; limit++ {
			pieces := mrkdwn.Split(text, limit)
			if strings.Join(pieces, "") != text {
				t.Fatalf("%s at %d: text is lost or changed", unit, limit)
			}
			for _, p := range pieces {
				if !utf8.ValidString(p) || len(p)%len(unit) != 0 || len(p) > limit {
					t.Fatalf("%s at %d: %q", unit, limit, p)
				}
			}
		}
	}
}

// A message that is written does not rewrite its earlier parts.
func TestEarlierPiecesDoNotChange(t *testing.T) {
	var whole strings.Builder
	var before []string
	for i := range 200 {
		fmt.Fprintf(&whole, "This is sentence %d.\n", i)
		pieces := mrkdwn.Split(whole.String(), 400)
		for k := range max(0, len(before)-1) {
			if pieces[k] != before[k] {
				t.Fatalf("piece %d changed from %q to %q", k, before[k], pieces[k])
			}
		}
		before = pieces
	}
}
