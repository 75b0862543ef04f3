package mrkdwn_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/slackchat/mrkdwn"
)

func TestStreamsGetMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"a **b** c":                       "a **b** c",
		"# Title":                         "**Title**",
		"- one\n* two":                    "- one\n- two",
		"[docs](https://a.example/x)":     "docs (https://a.example/x)",
		"[bank](https://a.example \"t\")": "[bank] (https://a.example \"t\")",
		"[bank](javascript:alert(1))":     "[bank] (javascript:alert(1))",
		"[`b`](/x \"t\")":                 "[`b`] (/x \"t\")",
		"[bank][1]\n\n[1]: https://evil":  "[bank][1]\n\n[1] : https://evil",
		"[bank][1]\n- [1]: https://evil":  "[bank][1]\n- [1] : https://evil",
		"<https://evil|bank> <!here>":     "&lt;https://evil|bank&gt; &lt;!here&gt;",
		"2 < 3 && 2 * 3 * 4":              "2 &lt; 3 &amp;&amp; 2 * 3 * 4",
		"`a<b && c` <b>":                  "`a<b && c` &lt;b&gt;",
		"`<!here> <@U1> <#C1>`":           "`&lt;!here> &lt;@U1> &lt;#C1>`",
		"```go\nvector<std::string> & <https://e|x>\n```\n**y**": "```\nvector<std::string> & &lt;https://e|x>\n```\n**y**",
		"```\n&lt;!here>\n```": "```\n&lt;!here>\n```",
		"an `unclosed <!here>": "an `unclosed &lt;!here&gt;",
	} {
		if got := mrkdwn.Markdown(mrkdwn.FromMarkdown(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever is written, nothing that a stream was sent changes later: a stream cannot take back.
func TestWhatIsSettledStays(t *testing.T) {
	words := []string{"word", "**bold**", "*it*", "`a<b`", "[x](https://a.example)", "![i](https://a.example)", "\n", "\n\n", "\n- ", "\n# ", "\n```\n", "\n```go\n", "<!here>", "&", "1.", "#5", "\n> ", "+"}
	const limit = 200
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		var source strings.Builder
		sent, before := "", 0
		for range 25 {
			source.WriteString(words[random.IntN(len(words))])
			if random.IntN(2) == 0 {
				source.WriteString(" ")
			}
			for n := before; n <= source.Len(); n++ {
				pieces := mrkdwn.Split(mrkdwn.FromMarkdown(strings.TrimSpace(source.String()[:n])), limit)
				if len(pieces) > 1 {
					break
				}
				settled := mrkdwn.Markdown(mrkdwn.Settled(pieces[0], limit))
				if !strings.HasPrefix(mrkdwn.Markdown(pieces[0]), sent) {
					t.Fatalf("seed %d: %q was sent of %q, which is %q now", seed, sent, source.String()[:n], mrkdwn.Markdown(pieces[0]))
				}
				if len(settled) > len(sent) {
					sent = settled
				}
			}
			before = source.Len()
		}
	}
	if got := mrkdwn.Settled("Plain words come one by o", 3000); got != "Plain words come one by " {
		t.Errorf("plain words are kept back: %q", got)
	}
}
