package credential

import (
	"encoding/base64"
	"net/url"
	"strings"

	"agent-stop-and-go/mcpservers/hosting/excerpt"
)

const (
	shortest  = 6   // bytes from which a credential is replaced in texts
	longError = 300 // characters of an error
)

// Mask replaces credentials in a text, and the tokens that were got with them. A text is masked before it is
// cut: a part of a credential is not found.
func (k *Keeper) Mask(text string) string {
	for _, secret := range k.secrets() {
		if len(secret) < shortest {
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), strings.ReplaceAll(secret, "/", `\/`)} {
			text = strings.ReplaceAll(text, form, "…")
		}
	}
	return text
}

func (k *Keeper) secrets() (all []string) {
	for _, value := range k.values {
		all = append(all, value, base64.StdEncoding.EncodeToString([]byte(value)))
		if _, secret, ok := strings.Cut(value, ":"); ok {
			all = append(all, secret)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.tokens {
		s.mu.Lock()
		all = append(all, s.latest[:]...)
		s.mu.Unlock()
	}
	return all
}

// Masked returns an error whose text has no credentials.
func (k *Keeper) Masked(err error) error { return masked{k.Mask(err.Error()), err} }

// Short is Masked, in one short line. The text of some errors has all that a server sent.
func (k *Keeper) Short(err error) error {
	return masked{excerpt.Line(k.Mask(err.Error()), longError), err}
}

type masked struct {
	text  string
	inner error
}

func (m masked) Error() string { return m.text }
func (m masked) Unwrap() error { return m.inner }
