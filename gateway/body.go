package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/mcpservers/hosting/guard"
	"agent-stop-and-go/workflows/contract"
)

// readBody returns a body of JSON; nil when it is empty, and then its Content-Type
// does not matter. No other type is read: a page of another site can send those
// without being asked.
func readBody(c echo.Context) ([]byte, error) {
	data, err := io.ReadAll(c.Request().Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, Errorf(contract.KindTooLarge, "request body too large: the limit is %d bytes", tooLarge.Limit)
	case err != nil:
		return nil, Errorf(contract.KindInvalid, "the request body could not be read").because(err)
	}
	data = bytes.TrimSpace(data)
	if kind := c.Request().Header.Get(echo.HeaderContentType); len(data) > 0 && !guard.IsJSON(kind) {
		return nil, notJSON(kind)
	}
	return data, nil
}

func notJSON(kind string) *Error {
	if kind == "" {
		kind = "none"
	}
	return Errorf(KindUnsupported, "Content-Type: expected application/json, not %s; "+
		"curl sends it with --json, or with -d and -H 'Content-Type: application/json'", printable(kind))
}

// decode reads JSON into v. An empty text leaves v alone.
func decode(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return invalidBody(err)
	}
	return nil
}

func invalidBody(err error) *Error {
	return &Error{Kind: contract.KindInvalid, Text: "invalid request body: " + err.Error()}
}

// bind reads the body into the struct that v points to, which knows all its members.
func bind(c echo.Context, v any) ([]byte, error) {
	data, err := readBody(c)
	if err == nil {
		err = decode(data, v)
	}
	if err != nil {
		return nil, err
	}
	if err := checkMembers(data, membersOf(v)); err != nil {
		return nil, invalidBody(err)
	}
	return data, nil
}

// fingerprint tells a repeated request from another one: a hash of the method,
// the path and the body without the accidents of its formatting.
func fingerprint(r *http.Request, body []byte) string {
	h := sha256.New()
	io.WriteString(h, r.Method+"\n"+r.URL.Path+"\n") //nolint:errcheck // a hash never fails
	h.Write(canonical(body))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func canonical(body []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return body
	}
	out, err := json.Marshal(v) // sorts keys
	if err != nil {
		return body
	}
	return out
}

const maxEchoed = 80

// printable makes a caller's text fit to be repeated in an error.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxEchoed {
			return b.String() + "…"
		}
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}
