package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// spec is openapi.yaml, parsed by kin-openapi.
var spec = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(gateway.OpenAPI())
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background())
})

var router = sync.OnceValues(func() (routers.Router, error) {
	doc, err := spec()
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// api is a gateway under test. Every reply, and every request that succeeds, is validated
// against openapi.yaml.
type api struct {
	*gateway.Gateway
	Backend service.Backend // that of the gateway
	t       *testing.T
	backend *fakeBackend
	blobs   *memory
	keys    *credential.Keyring
	logs    *bytes.Buffer
}

func newAPI(t *testing.T, b *fakeBackend, change ...func(*gateway.Deps)) *api {
	t.Helper()
	key, err := credential.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := credential.NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	a := &api{t: t, backend: b, blobs: &memory{}, keys: keys, logs: &bytes.Buffer{}}
	deps := gateway.Deps{
		Backend: b, Agent: contract.Agent{Name: "helper", Model: contract.DemoModel}, Blobs: a.blobs, Keyring: keys,
		Logger: slog.New(slog.NewJSONHandler(a.logs, nil)), RequestTimeout: time.Minute, Version: "1.2.3",
	}
	deps.Pace.Patience = 10 * time.Millisecond // without a worker, nobody waits for one
	for _, f := range change {
		f(&deps)
	}
	a.Gateway, a.Backend = gateway.New(deps), deps.Backend
	t.Cleanup(a.Close)
	return a
}

func impatient(d *gateway.Deps) { d.RequestTimeout = time.Millisecond }

type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

// text reads a string in the body: text("result", "response").
func (r reply) text(path ...string) string {
	s, _ := r.at(path...).(string)
	return s
}

func (r reply) at(path ...string) any {
	var v any = r.body
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// do sends a request. Headers are "Name: value".
func (a *api) do(method, target, body string, headers ...string) reply {
	a.t.Helper()
	r := newRequest(method, target, body, headers...)
	return a.send(r, body)
}

func newRequest(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "localhost:8080"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		switch name, value, _ := strings.Cut(h, ": "); name {
		case "Host":
			r.Host = value
		case "Test-Remote":
			r.RemoteAddr = value
		case "Content-Type":
			r.Header.Set(name, value)
		default:
			r.Header.Add(name, value)
		}
	}
	return r
}

func (a *api) send(r *http.Request, body string) reply {
	a.t.Helper()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header(), raw: w.Body.String()}
	if strings.HasPrefix(out.header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &out.body); err != nil {
			a.t.Errorf("%s %s: %v in %s", r.Method, r.URL, err, out.raw)
		}
	}
	if out.status >= 400 && out.at("error") == nil && out.text("status") == "" {
		a.t.Errorf("%s %s: %d without an error in %q", r.Method, r.URL, out.status, out.raw)
	}
	check(a.t, r, body, out)
	return out
}

func check(t *testing.T, r *http.Request, body string, out reply) {
	t.Helper()
	routes, err := router()
	if err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	again := r.Clone(context.Background())
	again.Body = io.NopCloser(strings.NewReader(body))
	route, params, err := routes.FindRoute(again)
	if err != nil || out.status == 499 { // no such route, HEAD, or a client that is gone
		return
	}
	in := &openapi3filter.RequestValidationInput{
		Request: again, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	if out.status < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			t.Errorf("%s %s succeeded and is not what openapi.yaml says: %v", r.Method, r.URL, err)
		}
	}
	if strings.HasPrefix(out.header.Get("Content-Type"), "application/json") {
		checkReply(t, in, out)
	}
}

func checkReply(t *testing.T, in *openapi3filter.RequestValidationInput, out reply) {
	t.Helper()
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: out.status, Header: out.header,
		Body: io.NopCloser(strings.NewReader(out.raw)), Options: in.Options,
	})
	if err != nil {
		t.Errorf("%s %s: the reply is not what gateway/openapi.yaml says, which has to name every member: %v", in.Request.Method, in.Request.URL, err)
	}
}

func (a *api) want(status int, r reply) reply {
	a.t.Helper()
	if r.status != status {
		a.t.Fatalf("status %d, expected %d: %s\n%s", r.status, status, r.raw, a.logs)
	}
	return r
}

func (a *api) wantError(status int, text string, r reply) {
	a.t.Helper()
	said := r.text("error")
	if said == "" { // in OpenAI's form
		said = r.text("error", "message")
	}
	if a.want(status, r); !strings.Contains(said, text) {
		a.t.Errorf("error %q, expected %q in it", said, text)
	}
}
