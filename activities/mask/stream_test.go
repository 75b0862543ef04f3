package mask_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"agent-stop-and-go/activities/mask"
)

func TestASecretIsHiddenHoweverItIsCutInPieces(t *testing.T) {
	for _, secret := range []string{canary, "12345678", jwt, "1234\r\n56\t78\b9\f"} {
		m := mask.New(mask.Value(secret), mask.Bearer("another-"+secret[:6]))
		for name, form := range forms(secret) {
			text := "It is " + form + ", and " + form + form + " is 100% what you wanted."
			for _, size := range []int{1, 2, 3, 7, len(form) - 1, len(form) + 1, 1000} {
				shown := streamed(m, text, func() int { return max(1, size) })
				if want := m.Text(text); shown != want || visiblePart(shown, core(name, form)) != "" {
					t.Errorf("%s in pieces of %d: got %q, expected %q", name, size, shown, want)
				}
			}
		}
	}
}

func TestAStreamHoldsBackNoMoreThanItMust(t *testing.T) {
	s := mask.New(mask.Value("canary-0123456789")).Stream()
	for _, step := range []struct{ in, out string }{
		{"It is 100", "It is 100"}, {"%", ""}, {" sure. c", "% sure. "}, {"ana", ""}, {"da", "canada"}, {" canary-01", " "}, {"23456789", "[secret]"}, {"!", "!"},
	} {
		if got := s.Write(step.in); got != step.out {
			t.Errorf("%q: got %q, expected %q", step.in, got, step.out)
		}
	}
	if got := s.Write("canary-0123") + s.End(); got != "canary-0123" {
		t.Errorf("at the end: got %q", got)
	}
}

// streamed passes a text through a stream in pieces.
func streamed(m *mask.Mask, text string, size func() int) string {
	var out strings.Builder
	s := m.Stream()
	for text != "" {
		n := min(size(), len(text))
		out.WriteString(s.Write(text[:n]))
		text = text[n:]
	}
	out.WriteString(s.End())
	return out.String()
}

var halfEscape = regexp.MustCompile(`(%.|\\u.{0,3})$`)

func FuzzMask(f *testing.F) {
	f.Add(canary, "the key is ", "…", uint8(0), uint64(1))
	f.Add("12345678", "%", `\`, uint8(3), uint64(2))
	f.Add(jwt, `{"a":"\`, `"}`, uint8(9), uint64(3))
	f.Add("%41%42%43%44%45%46", "%4", "1", uint8(1), uint64(4))
	f.Add("aaaaaaaab", "aaaaaaa", "aaaaaaaab", uint8(0), uint64(5))
	f.Add("1234\r\n56\t78", "x", "y", uint8(7), uint64(6))
	f.Fuzz(func(t *testing.T, secret, before, behind string, which uint8, seed uint64) {
		// After half an escape, a secret that contains escapes is a different text.
		if before = strings.TrimRight(before, `\%`); len(secret) < 8 || len(secret) > 20_000 || halfEscape.MatchString(before) || !utf8.ValidString(secret) {
			t.Skip()
		}
		all := forms(secret)
		var names []string
		for name := range all {
			names = append(names, name)
		}
		name := names[int(which)%len(names)]
		m := mask.New(mask.Value(secret))
		text := before + all[name] + behind
		whole := m.Text(text)
		if !m.Shows(text) || !strings.Contains(whole, "[secret]") {
			t.Fatalf("%s of %q: %q became %q", name, secret, text, whole)
		}
		random := rand.New(rand.NewPCG(seed, 0))
		if shown := streamed(m, text, func() int { return 1 + random.IntN(9) }); !strings.Contains(shown, "[secret]") {
			t.Fatalf("%s of %q: %q was streamed as %q", name, secret, text, shown)
		}
		if rest := strings.ReplaceAll(whole, "[secret]", "\x00"); m.Shows(rest) {
			t.Fatalf("%s of %q: %q still shows it", name, secret, whole)
		}
	})
}
