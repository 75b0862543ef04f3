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

// Every event of a stream repeats the id, so it must not be large.
const maxID = 1024

// request is a JSON-RPC request.
type request struct {
	id      json.RawMessage // as sent; nil when there was none
	version string
	method  string
	params  any // as decoded, with numbers as json.Number; nil when there are none

	badID bool
	twice string // a member of the params that is there twice
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null when nil
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// parse reads as much of a request as it can, and fails when that is not enough
// to tell what it wants.
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
	_ = json.Unmarshal(members["jsonrpc"], &q.version) // what is no string fails the check
	_ = json.Unmarshal(members["method"], &q.method)
	if raw, ok := members["params"]; ok {
		q.params, q.twice = decode(raw), duplicateMember(raw)
	}
	return q, nil
}

// check reports whether it is a request at all.
func (q request) check() error {
	switch {
	case q.version != jsonrpc && !showsOld(q.method, q.params):
		return invalidRequest(`jsonrpc must be "2.0"`)
	case q.method == "":
		return invalidRequest("method is missing")
	case q.badID:
		return invalidRequest("id must be a string, an integral number or null")
	case q.twice != "":
		return invalid(q.twice, "is there twice")
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

// decode keeps numbers as they were written.
func decode(raw json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v) // it was valid as a part of the body
	return v
}

// encode writes a value as JSON on one line.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a response: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// checkMediaType lets only JSON in, so that no page of another origin can make
// a browser send a request without asking first.
func checkMediaType(h http.Header) error {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err == nil && (kind == "application/json" || kind == "application/a2a+json") {
		return nil
	}
	return &httpError{http.StatusUnsupportedMediaType, a2a.NewError(a2a.ErrUnsupportedContentType,
		"Incompatible content types: send application/json")}
}

// A patch version makes no difference.
var spoken = regexp.MustCompile(`^(1|(1\.0|0\.3|0\.2)(\.\d+)?)$`)

// checkVersion refuses a version that nobody here speaks. Between those that are
// spoken the method decides.
func checkVersion(r *http.Request) error {
	version := versionOf(r)
	if version == "" || spoken.MatchString(version) {
		return nil
	}
	return a2a.NewError(a2a.ErrVersionNotSupported, "This protocol version is not supported: 1.0 and 0.3 are").
		WithErrorInfoMeta(map[string]string{"supported": "1.0,0.3"})
}

// versionOf is the version that a client says it speaks; most say none.
func versionOf(r *http.Request) string {
	if version := r.Header.Get(a2a.SvcParamVersion); version != "" {
		return version
	}
	return r.URL.Query().Get(a2a.SvcParamVersion)
}
