package hosting_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/auth"
)

func TestHoldersOfKeysMayCall(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	sum := sha256.Sum256([]byte("key"))
	if err := os.WriteFile(keys, []byte("alice "+hex.EncodeToString(sum[:])+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	guard, err := auth.New(t.Context(), auth.Settings{Kind: auth.Keys, KeysFile: keys})
	if err != nil {
		t.Fatal(err)
	}
	site := serve(t, hosting.Options{Guard: guard})
	for _, test := range []struct {
		header, path string
		status       int
	}{
		{"Authorization: Bearer key", "/mcp", 200}, {"Authorization: Bearer other", "/mcp", 401}, {"Authorization: Basic key", "/mcp", 401}, {"", "/mcp", 401},
		{"", "/sse", 401}, {"", "/message", 401}, {"", "/nothing", 401},
	} {
		var headers []string
		if test.header != "" {
			headers = append(headers, test.header)
		}
		response, body := ask(t, "POST", site.url+test.path, initialize, headers...)
		if response.StatusCode != test.status || test.status == 200 && !strings.HasPrefix(response.Header.Get("Mcp-Session-Id"), "mcp-session-") {
			t.Errorf("%s with %q: %d %s", test.path, test.header, response.StatusCode, body)
		}
	}
}

func TestEverybodyOffLoopbackIsRefusedAtTheStart(t *testing.T) {
	settings := hosting.DefaultSettings(0)
	settings.Host = "0.0.0.0"
	if err := hosting.Run(t.Context(), hosting.Options{Settings: settings}, newExample().MCPServer); err == nil || !strings.Contains(err.Error(), "could use every tool") {
		t.Errorf("%v", err)
	}
	settings.Kind = auth.None
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := hosting.Run(ctx, hosting.Options{Settings: settings}, newExample().MCPServer); err != nil {
		t.Errorf("with auth none: %v", err)
	}
}

func TestHostAndOriginAreChecked(t *testing.T) {
	open := serve(t, hosting.Options{})
	named := serve(t, hosting.Options{Settings: hosting.Settings{
		AllowedHosts: []string{"tools.example.com"}, AllowedOrigins: []string{"https://chat.example.com", "null"}}})
	anyone := serve(t, hosting.Options{Settings: hosting.Settings{AllowedHosts: []string{"*"}, AllowedOrigins: []string{"*"}}})
	for _, test := range []struct {
		site   testServer
		header string
		status int
	}{
		{open, "Host: localhost", 200},
		{open, "Host: LocalHost:9", 200},
		{open, "Host: [::1]:9", 200},
		{open, "Host: 127.5.5.5", 200},
		{open, "Host: evil.example.com", 403},
		{open, "Host: localhost.evil.com", 403},
		{open, "Host: 10.0.0.1:80", 403},
		{open, "Origin: http://localhost:3000", 200},
		{open, "Origin: http://[::1]", 200},
		{open, "Origin: https://evil.example.com", 403},
		{open, "Origin: https://localhost.evil.com", 403},
		{open, "Origin: null", 403},
		{open, "Origin: localhost", 403},
		{named, "Host: Tools.example.com:443", 200},
		{named, "Host: other.example.com", 403},
		{named, "Origin: https://chat.example.com", 200},
		{named, "Origin: http://chat.example.com", 403},
		{named, "Origin: null", 200},
		{anyone, "Host: evil.example.com", 200},
		{anyone, "Origin: https://evil.example.com", 200},
	} {
		if response, body := ask(t, "POST", test.site.url+"/mcp", initialize, test.header); response.StatusCode != test.status {
			t.Errorf("%s: %d %s", test.header, response.StatusCode, body)
		}
		if response, _ := ask(t, "GET", test.site.url+"/health", "", test.header); response.StatusCode != 200 {
			t.Errorf("/health with %s: %d", test.header, response.StatusCode)
		}
	}
	for _, path := range []string{"/sse", "/message", "/nothing"} {
		if response, _ := ask(t, "GET", open.url+path, "", "Host: evil.example.com"); response.StatusCode != 403 {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
}

func TestOverANetworkAnyHostIsAllowedUntilSomeAreListed(t *testing.T) {
	address := networkAddress(t)
	for _, test := range []struct {
		allowed []string
		status  int
	}{{nil, 200}, {[]string{"tools"}, 403}} {
		listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
		if err != nil {
			t.Skip(err)
		}
		h := hosting.NewHTTP(hosting.Options{Settings: hosting.Settings{AllowedHosts: test.allowed}}, newExample().MCPServer)
		go h.Serve(t.Context(), listener)
		response, body := ask(t, "POST", "http://"+listener.Addr().String()+"/mcp", initialize, "Host: mcp-example:8080")
		if response.StatusCode != test.status {
			t.Errorf("%v: %d %s", test.allowed, response.StatusCode, body)
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func networkAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no network")
	return ""
}

func TestAllowedOriginsGetCORSHeaders(t *testing.T) {
	const origin = "https://chat.example.com"
	s := serve(t, hosting.Options{Token: "secret", Settings: hosting.Settings{AllowedOrigins: []string{origin}}})
	for _, path := range []string{"/mcp", "/sse"} {
		response, _ := ask(t, "OPTIONS", s.url+path, "", "Origin: "+origin, "Access-Control-Request-Method: POST")
		allowed := response.Header.Get("Access-Control-Allow-Headers")
		if response.StatusCode != 204 || response.Header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(allowed, "Mcp-Protocol-Version") {
			t.Errorf("%s: %d %v", path, response.StatusCode, response.Header)
		}
	}
}

func TestTheBearerTokenIsRequired(t *testing.T) {
	s := serve(t, hosting.Options{Name: "example", Token: "secret"})
	for _, test := range []struct {
		header, challenge string
		status            int
	}{
		{"", `Bearer realm="example"`, 401},
		{"Authorization: Bearer wrong", `Bearer realm="example", error="invalid_token"`, 401},
		{"Authorization: Bearer ", `Bearer realm="example", error="invalid_token"`, 401},
		{"Authorization: Basic secret", `Bearer realm="example", error="invalid_token"`, 401},
		{"Authorization: secret", `Bearer realm="example", error="invalid_token"`, 401},
		{"Authorization: Bearer secret", "", 200},
		{"Authorization: bearer secret", "", 200},
	} {
		response, body := ask(t, "POST", s.url+"/mcp", initialize, test.header)
		if response.StatusCode != test.status || response.Header.Get("WWW-Authenticate") != test.challenge {
			t.Errorf("%q: %d %v %s", test.header, response.StatusCode, response.Header, body)
		}
	}
	for path, want := range map[string]int{"/health": 200, "/sse": 401, "/message": 401} {
		if response, _ := ask(t, "GET", s.url+path, ""); response.StatusCode != want {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
	if strings.Contains(s.log.String(), "secret") {
		t.Error("the log tells the token")
	}
}

func TestBodiesAreLimited(t *testing.T) {
	s := serve(t, hosting.Options{MaxBody: 1000})
	for size, status := range map[int]int{900: 400, 1001: 413} { // 400: the body is not JSON-RPC
		for _, path := range []string{"/mcp", "/message"} {
			if response, body := ask(t, "POST", s.url+path, strings.Repeat(" ", size)); response.StatusCode != status {
				t.Errorf("%d bytes to %s: %d %s", size, path, response.StatusCode, body)
			}
		}
	}
}

func TestAPanicIsAnsweredAndTheServerContinues(t *testing.T) {
	s := serve(t, hosting.Options{})
	id := newSession(t, s.url)
	const boom = `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"boom"}}`
	if response, body := ask(t, "POST", s.url+"/mcp", boom, id); response.StatusCode != 500 || !strings.Contains(body, "-32603") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if response, _ := ask(t, "POST", s.url+"/mcp", listTools, id); response.StatusCode != 200 {
		t.Errorf("%d", response.StatusCode)
	}
	s.log.waitFor(t, "handler panicked")
}

func TestTheLogNamesTheSession(t *testing.T) {
	s := serve(t, hosting.Options{})
	id := newSession(t, s.url)
	ask(t, "POST", s.url+"/mcp", listTools, id, "X-Session-ID: s-1")
	session := "mcp_session=" + strings.TrimPrefix(id, "Mcp-Session-Id: ")
	for range 2 { // initialize, then tools/list
		if line := s.log.waitFor(t, "msg=request"); !strings.Contains(line, session) {
			t.Error(line)
		}
	}
	dialSSE(t, s.url).Close()
	if line := s.log.waitFor(t, "path=/sse"); !strings.Contains(line, "mcp_session=sse-session-") {
		t.Error(line)
	}
	ask(t, "POST", s.url+"/mcp", listTools, "Mcp-Session-Id: a b", "X-Session-ID: x y")
	if line := s.log.waitFor(t, "status=400"); !strings.Contains(line, "sid=- mcp_session=-") {
		t.Error(line)
	}
}

func TestTheSSETransportAloneHasNoMCPPath(t *testing.T) {
	s := serve(t, hosting.Options{Settings: hosting.Settings{Transport: hosting.TransportSSE}})
	if response, _ := ask(t, "POST", s.url+"/mcp", initialize); response.StatusCode != http.StatusNotFound {
		t.Errorf("%d", response.StatusCode)
	}
	if got := use(t, dialSSE(t, s.url), "count"); got != "1" {
		t.Errorf("got %s", got)
	}
}
