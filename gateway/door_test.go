package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

var errReached = errors.New("a handler was reached")

// closedBackend is a backend that fails the test with every method a foreign request could
// reach.
func closedBackend(t *testing.T) *fakeBackend {
	reached := func() error { t.Error("a handler was reached"); return errReached }
	return &fakeBackend{
		StartFn:        func(service.StartInput) (service.StartResult, error) { return service.StartResult{}, reached() },
		SignalFn:       func(string, string, any) error { return reached() },
		ConversationFn: func(string, string) (contract.ConversationView, error) { return contract.ConversationView{}, reached() },
		SubjectFn:      func(string) (service.Subject, error) { return service.Subject{}, reached() },
		ApprovalFn:     func(string) (contract.ApprovalView, error) { return contract.ApprovalView{}, reached() },
		DecideFn:       func(string, contract.DecideSignal) error { return reached() },
		WaitingFn: func(service.ListQuery) (service.Page[service.WaitingItem], error) {
			return service.Page[service.WaitingItem]{}, reached()
		},
		ListFn: func(service.ListQuery) (service.Page[service.Item], error) {
			return service.Page[service.Item]{}, reached()
		},
		CatalogueFn: func(context.Context) (contract.Catalogue, error) { return contract.Catalogue{}, reached() },
	}
}

func withHosts(names ...string) func(*gateway.Deps) {
	return func(d *gateway.Deps) { d.AllowedHosts = names }
}

func withOrigins(origins ...string) func(*gateway.Deps) {
	return func(d *gateway.Deps) { d.AllowedOrigins = origins }
}

var parameter = regexp.MustCompile(`:(id|uuid|request_id)|:sha256|\*`)

// everyRoute returns all methods and paths, with and without a slash at the end.
func everyRoute(g *gateway.Gateway) (out [][2]string) {
	for _, r := range g.Routes() {
		path := parameter.ReplaceAllString(r.Path, someID)
		out = append(out, [2]string{r.Method, path}, [2]string{r.Method, path + "/"}, [2]string{"OPTIONS", path})
		if r.Method == "GET" {
			out = append(out, [2]string{"HEAD", path})
		}
	}
	return append(out, [2]string{"GET", "/docs/swagger-ui.css"}, [2]string{"GET", "/nothing"}, [2]string{"DELETE", "/conversations"}, [2]string{"GET", "/"})
}

func isHealth(path string) bool { return strings.HasPrefix(path, "/health") }

func TestNothingIsServedUnderAForeignName(t *testing.T) {
	a := newAPI(t, closedBackend(t), withHosts("agents.example.com"))
	for _, host := range []string{"evil.example", "evil.example:8080", "localhost.evil.example", "203.0.113.9", ""} {
		for _, r := range everyRoute(a.Gateway) {
			if isHealth(r[1]) {
				continue
			}
			reply := a.do(r[0], r[1], bodyOf(r[0]), "Host: "+host)
			if a.want(421, reply); r[0] != "HEAD" {
				a.wantError(421, "allowed_hosts", reply)
			}
		}
	}
}

func TestNothingIsServedToAForeignPage(t *testing.T) {
	a := newAPI(t, closedBackend(t), withOrigins("https://chat.example.com"))
	for _, headers := range [][]string{
		{"Origin: https://evil.example"}, {"Origin: null"}, {"Origin: https://chat.example.com.evil.example"},
		{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: cross-site", "Origin: http://localhost:3000"},
		{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"},
	} {
		for _, r := range everyRoute(a.Gateway) {
			if isHealth(r[1]) {
				continue
			}
			reply := a.do(r[0], r[1], bodyOf(r[0]), headers...)
			if a.want(403, reply); r[0] != "HEAD" {
				a.wantError(403, "allowed_origins", reply)
			}
			if len(reply.header.Values("Access-Control-Allow-Origin")) > 0 {
				t.Errorf("%v: %v", r, reply.header)
			}
		}
	}
}

func bodyOf(method string) string {
	if method == "POST" {
		return `{"message":"hello"}`
	}
	return ""
}

func TestHealthIsServedUnderAnyName(t *testing.T) {
	name := "m"
	a := newAPI(t, &fakeBackend{CatalogueFn: catalogueNamed(&name)})
	for _, path := range []string{"/health", "/health/", "/health/ready"} {
		a.want(200, a.do("GET", path, "", "Host: 10.1.2.3:8080", "Origin: http://evil.example", "Sec-Fetch-Site: cross-site"))
	}
}

func TestHostNamesOfTheGateway(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) { return contract.Catalogue{}, nil }}, withHosts("agents.example.com"))
	for _, host := range []string{"localhost", "127.0.0.1:8080", "[::1]:8080", "Agents.Example.com:443", "agents.example.com."} {
		a.want(200, a.do("GET", "/tools", "", "Host: "+host))
		a.want(200, a.do("GET", "/tools", "", "Host: "+host, "Origin: https://agents.example.com", "Sec-Fetch-Site: same-origin"))
	}
	for _, target := range []string{"http://agents.example.com/tools"} { // in a proxy's form
		a.want(200, a.do("GET", target, "", "Host: agents.example.com"))
	}
}

// A real server knows the address of the connection, and takes Host from the target.
func TestHostsAsAServerReadsThem(t *testing.T) {
	a := newAPI(t, closedBackend(t))
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	for request, want := range map[string]string{
		"GET /docs/json HTTP/1.1\r\nHost: localhost\r\n":                                                      "200",
		"GET http://localhost/docs/json HTTP/1.1\r\nHost: evil.example\r\n":                                   "200", // RFC 9112 §3.2.2: the target counts
		"GET http://evil.example/docs/json HTTP/1.1\r\nHost: localhost\r\n":                                   "421",
		"GET /docs/json HTTP/1.1\r\nHost: evil.example\r\n":                                                   "421",
		"GET /docs/json HTTP/1.1\r\nHost:\r\n":                                                                "421",
		"GET /docs/json HTTP/1.0\r\n":                                                                         "421",
		"GET /docs/json HTTP/1.0\r\nHost: localhost\r\n":                                                      "200",
		"GET /docs/json HTTP/1.1\r\n":                                                                         "400",
		"GET /docs/json HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n":                                "400",
		"GET /health HTTP/1.0\r\n":                                                                            "200",
		"OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n":                                                        "200", // net/http answers
		"POST /conversations HTTP/1.1\r\nHost: evil.example\r\nExpect: 100-continue\r\nContent-Length: 2\r\n": "421",
	} {
		if got := statusLine(t, s.Listener.Addr().String(), request+"Connection: close\r\n\r\n"); !strings.Contains(got, " "+want+" ") {
			t.Errorf("%q: %s, expected %s", request, got, want)
		}
	}
}

func statusLine(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, request); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 40)
	n, err := conn.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitN(string(line[:n]), "\r\n", 2)[0]
}

func TestListedPagesMayCall(t *testing.T) {
	const origin = "https://chat.example.com"
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start, ConversationFn: showing}, withOrigins(origin))
	reply := a.want(201, a.do("POST", "/conversations", "{}", "Origin: "+origin, "Sec-Fetch-Site: cross-site"))
	if reply.header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(reply.header.Get("Access-Control-Expose-Headers"), "Location") {
		t.Error(reply.header)
	}
	for _, path := range []string{"/conversations", "/approvals/" + someUUID, "/ag-ui", "/conversations/" + someID + "/events", "/a2a/"} {
		reply := a.want(204, a.do("OPTIONS", path, "", "Origin: "+origin, "Sec-Fetch-Site: cross-site",
			"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type,authorization"))
		h := reply.header
		if h.Get("Access-Control-Allow-Origin") != origin || h.Get("Access-Control-Allow-Headers") != "content-type,authorization" ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin") {
			t.Errorf("%s: %v", path, h)
		}
	}
	if h := a.do("GET", "/docs/json", "").header; h.Get("Access-Control-Allow-Origin") != "" || h.Get("Vary") != "Origin" {
		t.Errorf("without an Origin: %v", h)
	}
	if h := a.do("GET", "/docs/json", "", "Origin: http://localhost:3000").header; h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page of this machine: %v", h)
	}
}

func TestALinkOnAnotherPageWorks(t *testing.T) {
	a := newAPI(t, closedBackend(t))
	link := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}
	reply := a.want(200, a.do("GET", "/docs", "", link...))
	if reply.header.Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Error(reply.header)
	}
	a.want(403, a.do("POST", "/conversations", `{"message":"hello"}`, link...))
}

func TestBodiesMustBeJSON(t *testing.T) {
	a := newAPI(t, closedBackend(t))
	for _, path := range []string{
		"/conversations", "/conversations/" + someID + "/messages", "/conversations/" + someID + "/cancel",
		"/conversations/" + someID + "/close", "/approvals/" + someUUID, "/ag-ui", "/a2a",
	} {
		for _, kind := range []string{"text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
			w := httptest.NewRecorder()
			a.ServeHTTP(w, newRequest("POST", path, `{"message":"hello","approved":true}`, "Content-Type: "+kind))
			if w.Code != http.StatusUnsupportedMediaType {
				t.Errorf("%s as %q: %d %s", path, kind, w.Code, w.Body)
			}
		}
	}
	a.wantError(415, "curl sends it with --json", a.do("POST", "/conversations", `{"message":"hello"}`, "Content-Type: text/plain"))
	chunked := newRequest("POST", "/conversations", `{"message":"hello"}`, "Content-Type: text/plain")
	chunked.ContentLength = -1
	a.want(415, a.send(chunked, ""))
}

func TestBodiesOfJSONByAnyOfItsNames(t *testing.T) {
	for _, kind := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON", "application/vnd.us+json"} {
		var r recorder
		a := newAPI(t, &fakeBackend{StartFn: r.start, ConversationFn: showing})
		w := httptest.NewRecorder()
		a.ServeHTTP(w, newRequest("POST", "/conversations", "{}", "Content-Type: "+kind))
		if w.Code != http.StatusCreated {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
	var r recorder
	a := newAPI(t, &fakeBackend{StartFn: r.start, ConversationFn: showing})
	for _, kind := range []string{"", "text/plain"} { // an empty body
		a.want(201, a.do("POST", "/conversations", "", "Content-Type: "+kind))
	}
}

// A request for a foreign name reaches no handler, whatever its form.
func FuzzAForeignNameReachesNoHandler(f *testing.F) {
	f.Add("POST", "/conversations", "evil.example", "", "", "application/json")
	f.Add("GET", "/approvals/", "evil.example:80", "http://evil.example:80", "same-origin", "")
	f.Add("OPTIONS", "//ag-ui/%2e", "localhost.x", "null", "none", "text/plain")
	f.Fuzz(func(t *testing.T, method, path, host, origin, site, kind string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://x/"+strings.TrimPrefix(path, "/"), strings.NewReader(`{"message":"hello"}`))
		if err != nil || isHealth(r.URL.Path) {
			t.Skip()
		}
		r.Host = host + ".example"
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Content-Type", kind)
		a := newAPI(t, closedBackend(t), withOrigins("https://chat.example.com"))
		w := httptest.NewRecorder()
		if a.ServeHTTP(w, r); w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
