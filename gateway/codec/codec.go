// Package codec serves Temporal's protocol of remote codecs, by which the Temporal Web UI and the
// temporal command show clear text of encrypted conversations to those who may read all.
//
//	POST /codec/decode    {"payloads":[{"metadata":{…},"data":"…"}]}, answered in the same form
//	POST /codec/encode    for what is typed there
//
// A request passes the authentication of the API. Of pages of other origins, those of Web UIs may
// read the answer. They do not have the token of a browser's session, so a request needs none: it
// changes nothing.
package codec

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/mcpservers/hosting/guard"
	"agent-stop-and-go/workflows/contract"
)

const prefix = "/codec/"

// Paths of the endpoint.
const (
	PathDecode = prefix + "decode"
	PathEncode = prefix + "encode"
)

// KindForeignPage is the kind of requests that pages of other sites must not send.
const KindForeignPage contract.Kind = "foreign_page"

// Is reports whether a request is for the endpoint.
func Is(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, prefix) }

// Proof returns a request as those see it who check who has sent it: a POST here changes nothing.
func Proof(r *http.Request) *http.Request {
	if !Is(r) {
		return r
	}
	reads := *r
	reads.Method = http.MethodGet
	return &reads
}

// Pass calls next. Pages of Web UIs may send the cookies of a login with their requests.
func Pass(c echo.Context, webUIs guard.Rules, next func() error) error {
	if webUIs.Listed(c.Request().Header.Get("Origin")) {
		c.Response().Header().Set("Access-Control-Allow-Credentials", "true")
	}
	err := next()
	if service.IsKind(err, KindForeignPage) {
		return service.Errorf(KindForeignPage, "this page must not ask for clear text; encryption.web_ui lists the Web UIs that may, and allowed_origins does not count here").Because(err)
	}
	return err
}

// Codec encrypts and decrypts {"payloads":[…]}.
type Codec interface {
	EncodeJSON(body []byte) ([]byte, error)
	DecodeJSON(body []byte) ([]byte, error)
}

// Endpoint has the handlers.
type Endpoint struct {
	// Codec is nil if nothing is encrypted.
	Codec     Codec
	Namespace string
}

// Decode answers with clear text. What cannot be decrypted is returned as it is.
func (e *Endpoint) Decode(c echo.Context) error { return e.serve(c, Codec.DecodeJSON) }

// Encode answers with encrypted payloads.
func (e *Endpoint) Encode(c echo.Context) error { return e.serve(c, Codec.EncodeJSON) }

func (e *Endpoint) serve(c echo.Context, convert func(Codec, []byte) ([]byte, error)) error {
	if e.Codec == nil {
		return service.Errorf(contract.KindNotFound, "nothing is encrypted here: the agent's file has no encryption.keys")
	}
	if n := c.Request().Header.Get("X-Namespace"); n != "" && n != e.Namespace {
		return service.Errorf(contract.KindNotFound, "the namespace of this agent is %s", e.Namespace)
	}
	body, err := request.Body(c.Request())
	if err != nil {
		return err
	}
	out, err := convert(e.Codec, body)
	if err != nil {
		return service.Errorf(contract.KindInvalid, `the body must be {"payloads":[…]} in the JSON form of Temporal's payloads`).Because(err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, out)
}
