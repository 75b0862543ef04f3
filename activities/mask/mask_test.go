package mask_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/activities/mask"
)

const canary = "sK-cAnary/6f1+d0c9\"be2a=74853"

// forms returns the forms in which a peer may repeat a secret.
func forms(secret string) map[string]string {
	backwards := []rune(secret)
	slices.Reverse(backwards)
	out := map[string]string{
		"plain": secret, "upper case": strings.ToUpper(secret), "lower case": strings.ToLower(secret), "reversed": string(backwards),
		"hex": hex.EncodeToString([]byte(secret)), "upper hex": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"of a query": url.QueryEscape(secret), "of a path": url.PathEscape(secret), "all of it escaped": percent(secret, "%%%02X"),
		"escaped in lower case": percent(secret, "%%%02x"), "of JSON": quoted(secret), "of PHP": strings.ReplaceAll(quoted(secret), "/", `\/`), "of JSON in JSON": quoted(quoted(secret)),
		"in unicode": unicode(secret), "upper and reversed": strings.ToUpper(string(backwards)),
	}
	for name, e := range map[string]*base64.Encoding{
		"std": base64.StdEncoding, "raw std": base64.RawStdEncoding, "url": base64.URLEncoding, "raw url": base64.RawURLEncoding,
	} {
		for before := range 4 {
			for behind := range 4 {
				text := strings.Repeat("x", before) + secret + strings.Repeat("y", behind)
				out[fmt.Sprintf("base64 %s, %d before and %d behind", name, before, behind)] = e.EncodeToString([]byte(text))
			}
		}
		out["base64 "+name+" in a query"] = url.QueryEscape(e.EncodeToString([]byte(secret)))
		out["base64 "+name+" of basic authentication"] = e.EncodeToString([]byte("user:" + secret))
	}
	return out
}

func percent(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func unicode(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw[1 : len(raw)-1])
}

// visiblePart returns a part of eight characters of a form that a text still shows, or "".
func visiblePart(text, form string) string {
	for i := 0; i+8 <= len(form); i++ {
		if strings.Contains(text, form[i:i+8]) {
			return form[i : i+8]
		}
	}
	return ""
}

func TestASecretIsHiddenInEveryForm(t *testing.T) {
	for _, secret := range []string{canary, "12345678", "pass wörd of 2", strings.Repeat("0123456789abcdef-", 200), jwt} {
		m := mask.New(mask.Value(secret))
		for name, form := range forms(secret) {
			for _, around := range []string{"%s", "the key is %s.", "100%%%s", `\%s`, "%s%%", `{"key": "%s"}`, "ab%s=="} {
				text := fmt.Sprintf(around, form)
				if got := m.Text(text); visiblePart(got, core(name, form)) != "" || !strings.Contains(got, "[secret]") {
					t.Errorf("%s of %.20q in %s: got %.200q", name, secret, around, got)
				}
			}
		}
	}
}

// core returns the part of a form that depends only on the secret.
func core(name, form string) string {
	if strings.HasPrefix(name, "base64") {
		return strings.TrimRight(form, "=")[min(len(form), 8) : len(form)-min(len(form)/3, 8)]
	}
	return form
}

const jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"

func TestWhatIsNoSecretStays(t *testing.T) {
	m := mask.New(mask.Value(canary), mask.Bearer("short"), mask.Value(""))
	for _, text := range []string{
		"", "%", `\`, "100% sure, 50%2", "%41%4", `\u00`, "short", canary[:20], canary[10:], strings.Repeat("c2stY2Fu", 9), "ÄÖÜ \xff\xfe", `C:\new\ude00`,
		base64.StdEncoding.EncodeToString([]byte("another text, without any secret at all")),
	} {
		if got := m.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		data := []byte(text)
		if got := m.Bytes(data); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestANilMaskHidesNothing(t *testing.T) {
	m := mask.New(mask.Value(""), mask.Bearer(""))
	s := m.Stream()
	if m != nil || m.Text(canary) != canary || m.Pieces(canary) != canary || string(m.JSON([]byte(canary))) != canary || m.Shows(canary) ||
		s.Write(canary)+s.End() != canary || m.With(mask.Value("")) != nil {
		t.Error("something was hidden")
	}
	if got := m.With(mask.Value(canary)).Text(canary); got != "[secret]" {
		t.Errorf("got %q", got)
	}
}

func TestOfSecretsThatOverlapNothingIsLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		secrets    []mask.Secret
		text, want string
	}{
		"one begins another": {[]mask.Secret{mask.Bearer("long-canary"), mask.Value("long-canary-and-more")}, "a long-canary-and-more b long-canary", "a [secret] b [bearer token]"},
		"one is in another":  {[]mask.Secret{mask.Bearer("-canary-"), mask.Value("long-canary-and-more")}, "long-canary-and-more", "[secret]"},
		"one ends in another": {[]mask.Secret{mask.Bearer("abcdefgh-12345678"), mask.Value("12345678-ijklmnop")},
			"<abcdefgh-12345678-ijklmnop>", "<[bearer token]>"},
		"twice":    {[]mask.Secret{mask.Value("12345678")}, "1234567812345678", "[secret][secret]"},
		"the same": {[]mask.Secret{mask.Value("aaaaaaaa")}, strings.Repeat("a", 20) + "b", "[secret]b"},
	} {
		for range 3 {
			if got := mask.New(tt.secrets...).Text(tt.text); got != tt.want {
				t.Errorf("%s: got %q, expected %q", name, got, tt.want)
			}
			slices.Reverse(tt.secrets)
		}
	}
}

func TestAPartOfALongSecretIsHidden(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "%x", i*7919)
	}
	secret := b.String()
	m := mask.New(mask.Value(secret))
	for at := 0; at+300 <= len(secret); at += 37 {
		if got := m.Text("cut: " + secret[at:at+300] + "…"); len(got) > 200 || !strings.Contains(got, "[secret]") {
			t.Errorf("from %d on: %d bytes are left", at, len(got))
		}
	}
}

func TestJSONStaysJSON(t *testing.T) {
	m := mask.New(mask.Value(canary), mask.Value("nothing-of-it"))
	hex := hex.EncodeToString([]byte(canary))
	in := `{"n":1.50, "k\u0065y":"` + unicode(canary) + `","a` + hex + `":["` + hex + `",null,"\nothing-of-it", "\u006e\"` + quoted(canary) + `"]}`
	want := `{"n":1.50, "k\u0065y":"[secret]","a[secret]":["[secret]",null,"\nothing-of-it", "n\"[secret]"]}`
	if got := string(m.JSON([]byte(in))); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	file := base64.StdEncoding.EncodeToString([]byte("a file with " + canary + " in it"))
	want = `"` + base64.StdEncoding.EncodeToString([]byte("a file with [secret] in it")) + `"`
	if got := string(m.JSON([]byte(`"` + file + `"`))); got != want {
		t.Errorf("a file: got %s, expected %s", got, want)
	}
	for _, broken := range []string{`{"a`, `"`, `{"a":"\`, `nul`} {
		if got := string(m.JSON([]byte(broken))); got != broken {
			t.Errorf("%s became %s", broken, got)
		}
	}
}

func TestASecretThatIsCutOffIsHiddenInAnExcerpt(t *testing.T) {
	m := mask.New(mask.Value(canary))
	for _, name := range []string{"plain", "upper case", "reversed", "hex", "of a query", "all of it escaped", "of JSON in JSON", "in unicode"} {
		form := forms(canary)[name]
		for n := len(form) * 3 / 8; n <= len(form); n++ {
			if got := m.Excerpt("it is " + canary + ", or " + form[:n]); got != "it is [secret], or [secret]" {
				t.Errorf("%s: the first %d bytes of %q became %q", name, n, form, got)
			}
			if got := m.Pieces("or " + form[:n]); got != "or [secret]" {
				t.Errorf("%s: of an error, the first %d bytes of %q became %q", name, n, form, got)
			}
		}
	}
	for _, text := range []string{canary[:7], canary[:20] + ".", `C:\`, "100%", "50%4", `\u00`} {
		if got := m.Excerpt(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestPiecesOfASecretAreHiddenInErrors(t *testing.T) {
	m := mask.New(mask.Value(canary), mask.Value("abc"))
	for in, want := range map[string]string{
		"bad key " + canary[3:14] + "…": "bad key ***…", "abc is no key": "*** is no key", "key%2D" + url.QueryEscape(canary): "key%2D[secret]", "key " + hex.EncodeToString([]byte(canary)): "key [secret]",
		canary[:8] + " " + canary[9:18]: "*** ***", canary[:7]: canary[:7],
	} {
		if got := m.Pieces(in); got != want {
			t.Errorf("%q became %q, expected %q", in, got, want)
		}
	}
}

func TestSecretsOfHeadersAndURLs(t *testing.T) {
	secrets := slices.Concat(
		mask.Headers(map[string]string{
			"Authorization": "Bearer canary-of-header", "X-API-Key": "canary-of-key", "X-Team": "canary-of-nobody", "Cookie": "id=canary-of-cookie",
			"Proxy-Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("user:canary-of-basic")),
		}),
		mask.URL("https://user:canary-of-url@host/path?code=canary-of-code&api_key=canary-of-query&page=canary-of-page"), mask.URL("::"),
	)
	m := mask.New(secrets...)
	for _, text := range []string{"Bearer canary-of-header", "canary-of-header", "canary-of-key", "id=canary-of-cookie", "canary-of-basic", "canary-of-url", "canary-of-code", "canary-of-query"} {
		if got := m.Text(text); got != "[secret]" {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, text := range []string{"canary-of-nobody", "canary-of-page"} {
		if m.Shows(text) {
			t.Errorf("%s is hidden", text)
		}
	}
	if s := fmt.Sprintf("%v %+v %#v %s", secrets, secrets[0], secrets[0], mask.Bearer(canary)); strings.Contains(s, "canary") {
		t.Errorf("formatted as %s", s)
	}
}
