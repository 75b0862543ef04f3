package agentapi

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/contract"
)

// shellStream streams a session.
func (e *Endpoint) shellStream(c echo.Context) error {
	client := c.QueryParam("client_id")
	if client == "" {
		return invalid("Missing client_id")
	}
	return e.follow(c, client, func(w *sse.Writer, id func(held string) string) form { return &shellForm{Writer: w, id: id} }, e.running)
}

// shellForm writes the events of the shell.
type shellForm struct {
	*sse.Writer
	id func(held string) string
	// held is white space at the end of what was told, which goes with what follows: the shell strips it
	// from the end of a line.
	held string
}

// Token implements Listener. The shell reads a token per line, with \n for the ends of lines. It reads a
// backslash before an n that is meant in the same way, so the two are in different tokens.
func (f *shellForm) Token(text string) error {
	text = f.held + text
	f.held = trailingSpace(text)
	return f.lines(strings.TrimSuffix(text, f.held))
}

// lines sends a token, the last line of it with an ID.
func (f *shellForm) lines(text string) error {
	var b strings.Builder
	all := parts(text)
	for n, part := range all {
		if n == len(all)-1 {
			b.WriteString(idLine(f.id(f.held)))
		}
		b.WriteString("data: " + part + "\n\n")
	}
	if b.Len() == 0 {
		return nil
	}
	return f.Write([]byte(b.String()))
}

// trailingSpace returns the end of a text that a token must not end with.
func trailingSpace(text string) string {
	end := len(strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) && !endsLine(r) }))
	return text[end:]
}

// endsLine reports whether a client takes a character as the end of a line.
func endsLine(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= '\x1c' && r <= '\x1e' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// parts returns the tokens that a text is sent as.
func parts(text string) (out []string) {
	var b strings.Builder
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for i, r := range text {
		switch {
		case endsLine(r):
			b.WriteString(`\n`)
		case r == 'n' && i > 0 && text[i-1] == '\\':
			out = append(out, b.String())
			b.Reset()
			b.WriteRune(r)
		case r == utf8.RuneError, r == 0:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// Gate implements Listener.
func (f *shellForm) Gate(p contract.PendingApproval, link string) error {
	f.held = ""
	return f.event("gate_request", gateOf(p, link))
}

// Done implements Listener.
func (f *shellForm) Done() error {
	f.held = ""
	return f.Write([]byte(idLine(f.id("")) + "event: done\ndata: \n\n"))
}

// Failed implements Listener.
func (f *shellForm) Failed(text string) error {
	f.held = ""
	return f.event("error", map[string]string{"error": text})
}

// Broken implements form: the shell connects again by itself.
func (f *shellForm) Broken(string) error { return nil }

// Anew implements form.
func (f *shellForm) Anew() error {
	f.held = ""
	return writeEvent(f.Writer, "", eventAnew, struct{}{})
}

// Resume implements form.
func (f *shellForm) Resume(held string) { f.held = held }

func (f *shellForm) event(name string, v any) error {
	return writeEvent(f.Writer, f.id(""), name, v)
}
