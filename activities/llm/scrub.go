package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agent-stop-and-go/activities/mask"
)

const maxMessage = 500 // bytes of an Error's Message

// mask masks the key, credentials in headers and the address, and the secrets of a request.
func (e Endpoint) mask(of ...mask.Secret) *mask.Mask {
	secrets := append([]mask.Secret{mask.Value(e.Key)}, mask.Headers(e.Entry.Headers)...)
	for _, value := range e.Secrets {
		secrets = append(secrets, mask.Header(value)...)
	}
	secrets = append(secrets, mask.WholeURL(e.Address)...)
	return mask.New(append(secrets, of...)...)
}

// maskedText returns an error's text on one line, without secrets or long pieces of them.
func maskedText(m *mask.Mask, text string) string { return m.Pieces(oneLine(text)) }

// shownCause returns err, or nil if its text contains a secret.
func shownCause(m *mask.Mask, err error) error {
	if text := oneLine(err.Error()); maskedText(m, text) != text {
		return nil
	}
	return err
}

// withoutSecrets masks secrets in a reply. Its native form is removed if it contains one,
// because providers sign it.
func withoutSecrets(m *mask.Mask, r Reply) Reply {
	if m == nil {
		return r
	}
	r.Text, r.Model, r.Finish = m.Text(r.Text), m.Text(r.Model), m.Text(r.Finish)
	for i, c := range r.Calls {
		r.Calls[i] = Call{ID: m.Text(c.ID), Name: m.Text(c.Name), Arguments: m.JSON(c.Arguments), Problem: m.Text(c.Problem)}
	}
	if r.Native != nil && m.Shows(string(r.Native.Content)) {
		r.Native = nil
	}
	return r
}

// OneLine returns a text on one line, cut to the size of an Error's message.
func OneLine(text string) string { return Cut(oneLine(text), maxMessage) }

func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "�"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// Cut shortens text to at most limit bytes, at a character boundary.
func Cut(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
