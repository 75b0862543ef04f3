package peer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"agent-stop-and-go/activities"
)

// minSecret keeps a word that is hardly a secret from being cut out of texts.
const minSecret = 8

var (
	credentialHeader = regexp.MustCompile(`(?i)auth|token|key|secret|password|cookie|credential`)
	credentialQuery  = regexp.MustCompile(credentialHeader.String() + `|^(code|sig|signature)$`)
)

// veil hides what an agent may know and a conversation must not show: the caller's
// token, and what the configuration has of credentials. It is for agents that say
// back what they were sent, in an error or out of politeness; one that wants to
// give a secret away can always write it in another way.
type veil struct{ words *strings.Replacer } // nil: there is nothing to hide

func (a *agent) veil(bearer string) veil {
	hidden := map[string]string{}
	hide := func(word, secret string) {
		if len(secret) >= minSecret {
			hidden[secret] = word
		}
	}
	for _, s := range a.secrets() {
		hide("[secret]", s)
		_, credential, _ := strings.Cut(s, " ") // behind its scheme
		hide("[secret]", credential)
	}
	hide("[bearer token]", bearer)
	if len(hidden) == 0 {
		return veil{}
	}
	var words []string
	for _, secret := range longestFirst(hidden) {
		words = append(words, secret, hidden[secret])
	}
	return veil{strings.NewReplacer(words...)}
}

// longestFirst: a secret may contain another one.
func longestFirst(hidden map[string]string) []string {
	return slices.SortedFunc(maps.Keys(hidden), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

// secrets are the credentials of the configuration: in headers, and in the URL.
func (a *agent) secrets() []string {
	out := slices.Clone(a.Secrets)
	for name, value := range a.Headers {
		if credentialHeader.MatchString(name) {
			out = append(out, value)
		}
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		return out
	}
	if password, ok := u.User.Password(); ok {
		out = append(out, password)
	}
	for name, values := range u.Query() {
		if credentialQuery.MatchString(name) {
			out = append(out, values...)
		}
	}
	return out
}

func (v veil) text(s string) string {
	if v.words == nil {
		return s
	}
	return v.words.Replace(s)
}

// json hides secrets in the strings of a document, however they are escaped. All else
// stays as it is, the digits of numbers and the order of keys too.
func (v veil) json(data []byte) []byte {
	if v.words == nil {
		return data
	}
	var out bytes.Buffer
	for len(data) > 0 {
		begin := bytes.IndexByte(data, '"')
		if begin < 0 {
			break
		}
		end := begin + literal(data[begin:])
		out.Write(data[:begin])
		out.Write(v.quoted(data[begin:end]))
		data = data[end:]
	}
	out.Write(data)
	return out.Bytes()
}

// literal is the length of the string that data begins with.
func literal(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func (v veil) quoted(literal []byte) []byte {
	var s string
	if json.Unmarshal(literal, &s) != nil {
		return literal
	}
	hidden := v.text(s)
	if hidden == s {
		return literal
	}
	out, _ := json.Marshal(hidden) // of a string
	return out
}

// files hides secrets in files that are passed on as they are.
func (v veil) files(files []activities.PeerFile) {
	if v.words == nil {
		return
	}
	for i, f := range files {
		if hidden := v.text(string(f.Data)); hidden != string(f.Data) {
			files[i].Data = []byte(hidden)
		}
	}
}

// hide is for what people and models are shown of a card. Its URLs stay as they are: they
// may need what the configured one has.
func (c *card) hide(v veil) {
	c.Name = v.text(c.Name)
	for i, s := range c.Skills {
		c.Skills[i] = skill{Name: v.text(s.Name), Description: v.text(s.Description)}
	}
}
