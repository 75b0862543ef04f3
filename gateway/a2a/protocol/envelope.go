package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"net/http"
	"regexp"
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const jsonrpc = "2.0"

// maxID limits the length of an id, since every event of a stream repeats it.
const maxID = 1024

type request struct {
	id      json.RawMessage // as sent; nil without one
	version string
	method  string
	params  any // decoded, with numbers as json.Number; nil without params

	badID     bool
	duplicate string // a duplicate member in the params
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // nil is encoded as null
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// parse reads the members of a request. It fails if the body is not a JSON object; check
// finds other errors.
func parse(body []byte) (request, error) {
	if !json.Valid(body) {
		return request{}, a2a.NewError(a2a.ErrParseError, "Parse error")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return request{}, invalidRequest("one request object is expected")
	}
	var q request
	q.id, q.badID = readID(members["id"])
	_ = json.Unmarshal(members["jsonrpc"], &q.version) // anything but a string fails in check
	_ = json.Unmarshal(members["method"], &q.method)
	if raw, ok := members["params"]; ok {
		q.params, q.duplicate = decode(raw), duplicateMember(raw)
	}
	return q, nil
}

// check returns an error if the members do not form a JSON-RPC request.
func (q request) check() error {
	switch {
	case q.version != jsonrpc && !showsOld(q.method, q.params):
		return invalidRequest(`jsonrpc must be "2.0"`)
	case q.method == "":
		return invalidRequest("method is missing")
	case q.badID:
		return invalidRequest("id must be a string, an integral number or null")
	case q.duplicate != "":
		return invalid(q.duplicate, "is there twice")
	}
	return nil
}

func invalidRequest(text string) error {
	return a2a.NewError(a2a.ErrInvalidRequest, "Invalid request: "+text)
}

func readID(raw json.RawMessage) (id json.RawMessage, bad bool) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, false
	case len(raw) > maxID:
		return nil, true
	case raw[0] == '"':
		return raw, false
	}
	number, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || number != math.Trunc(number) {
		return nil, true
	}
	return raw, false
}

// decode decodes a value and keeps the spelling of numbers.
func decode(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v) // it was valid as a part of the body
	return v
}

// encode encodes a value as JSON on one line.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a response: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// checkMediaType accepts only JSON, so that a page of another origin cannot make a browser
// send a request without a preflight.
func checkMediaType(h http.Header) error {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err == nil && (kind == "application/json" || kind == "application/a2a+json") {
		return nil
	}
	return &httpError{status: http.StatusUnsupportedMediaType, error: a2a.NewError(a2a.ErrUnsupportedContentType,
		"Incompatible content types: send application/json")}
}

// Patch versions are ignored.
var supportedVersion = regexp.MustCompile(`^(1|(1\.0|0\.3|0\.2)(\.\d+)?)$`)

// checkVersion refuses unsupported versions. Among the supported ones the method decides.
func checkVersion(r *http.Request) error {
	version := versionOf(r)
	if version == "" || supportedVersion.MatchString(version) {
		return nil
	}
	return a2a.NewError(a2a.ErrVersionNotSupported, "This protocol version is not supported: 1.0 and 0.3 are").
		WithErrorInfoMeta(map[string]string{"supported": "1.0,0.3"})
}

// versionOf returns the version that the client sends, or "". Most clients send none.
func versionOf(r *http.Request) string {
	if version := r.Header.Get(a2a.SvcParamVersion); version != "" {
		return version
	}
	return r.URL.Query().Get(a2a.SvcParamVersion)
}
