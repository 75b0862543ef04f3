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

	"agent-stop-and-go/workflows/contract"
)

// readBody returns the body whatever its Content-Type; nil when it is empty.
func readBody(c echo.Context) ([]byte, error) {
	data, err := io.ReadAll(c.Request().Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, Errorf(KindTooLarge, "request body too large: the limit is %d bytes", tooLarge.Limit)
	case err != nil:
		return nil, Errorf(contract.KindInvalid, "the request body could not be read").because(err)
	}
	return bytes.TrimSpace(data), nil
}

// decode reads a body into v. An empty one leaves v alone.
func decode(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return &Error{Kind: contract.KindInvalid, Text: "invalid request body: " + err.Error()}
	}
	return nil
}

func bind(c echo.Context, v any) ([]byte, error) {
	data, err := readBody(c)
	if err != nil {
		return nil, err
	}
	return data, decode(data, v)
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
