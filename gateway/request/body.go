package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/mcpservers/hosting/guard"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
)

// Error kinds of a body.
const (
	KindUnsupported                 = modality.KindUnsupported
	KindUnprocessable contract.Kind = "unprocessable" // JSON, but not the expected JSON
)

// Body returns a JSON body. An empty body is nil, and its Content-Type is ignored. Other
// types are refused, because a page of another site can send those without a preflight.
func Body(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, service.Errorf(contract.KindTooLarge, "request body too large: the limit is %d bytes", tooLarge.Limit)
	case err != nil:
		return nil, service.Errorf(contract.KindInvalid, "the request body could not be read").Because(err)
	}
	data = bytes.TrimSpace(data)
	if kind := r.Header.Get("Content-Type"); len(data) > 0 && !guard.IsJSON(kind) {
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

// Decode decodes JSON into v. Empty data leaves v unchanged.
func Decode(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) && t.Field != "" {
			t.Field = memberOf(reflect.TypeOf(v), t.Field)
		}
		return invalidBody(err)
	}
	return nil
}

// Read decodes the body into v. Members that v does not have are ignored.
func Read(r *http.Request, v any) error {
	data, err := Body(r)
	if err != nil {
		return err
	}
	return Decode(data, v)
}

// InvalidBody begins the text of an error about a body that cannot be decoded. The member follows, if there is one.
const InvalidBody = "invalid request body: "

func invalidBody(err error) *service.Error {
	return &service.Error{Kind: contract.KindInvalid, Text: InvalidBody + DecodeErrorText(err)}
}

// Bind decodes the body into the struct that v points to. Members that the struct does not
// have are refused.
func Bind(r *http.Request, v any) ([]byte, error) {
	data, err := Body(r)
	if err == nil {
		err = Strict(data, v)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Strict decodes JSON into the struct that v points to. Members that the struct does not have are
// refused; those of structs in it are not looked at.
func Strict(data []byte, v any) error {
	if err := Decode(data, v); err != nil {
		return err
	}
	if err := CheckMembers(data, membersOf(v)); err != nil {
		return invalidBody(err)
	}
	return nil
}
