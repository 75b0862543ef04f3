package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
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
		return nil, service.Errorf(contract.KindTooLarge, "request body too large: the limit is %d bytes", tooLarge.Limit)
	case err != nil:
		return nil, service.Errorf(contract.KindInvalid, "the request body could not be read").Because(err)
	}
	data = bytes.TrimSpace(data)
	if kind := c.Request().Header.Get(echo.HeaderContentType); len(data) > 0 && !guard.IsJSON(kind) {
		return nil, notJSON(kind)
	}
	return data, nil
}

func notJSON(kind string) *service.Error {
	if kind == "" {
		kind = "none"
	}
	return service.Errorf(KindUnsupported, "Content-Type: expected application/json, not %s; "+
		"curl sends it with --json, or with -d and -H 'Content-Type: application/json'", service.Printable(kind))
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

func invalidBody(err error) *service.Error {
	return &service.Error{Kind: contract.KindInvalid, Text: "invalid request body: " + err.Error()}
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
