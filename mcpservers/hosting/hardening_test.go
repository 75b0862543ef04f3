package hosting_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
)

// deadlines is the connection of a request whose body is never completed.
type deadlines struct {
	*httptest.ResponseRecorder
	read time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = at
	return nil
}

// The rest of a refused request is also read, and must not take unlimited time.
func TestRefusedRequestsAreReadInTime(t *testing.T) {
	s := serve(t, hosting.Options{Token: "secret"})
	for _, test := range []struct {
		path, host, token string
		status            int
	}{
		{"/mcp", "localhost", "", 401}, {"/mcp", "localhost", "Bearer wrong", 401}, {"/mcp", "evil.example.com", "Bearer secret", 403}, {"/health", "localhost", "", 200},
	} {
		r := httptest.NewRequest("GET", test.path, strings.NewReader("x"))
		r.Host = test.host
		r.Header.Set("Authorization", test.token)
		d := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		s.http.ServeHTTP(d, r)
		if left := time.Until(d.read); d.Code != test.status || left <= 0 || left > time.Minute {
			t.Errorf("%v: %d, read until %v", test, d.Code, d.read)
		}
	}
}

// The shutdown waits for answers, which must be recognised in every notation of their IDs.
func TestAnswersAreKnownByTheirIDs(t *testing.T) {
	r := run(t, time.Minute)
	stream, _ := ask(t, "GET", r.url+"/sse", "")
	buffer := make([]byte, 1<<10)
	n, err := stream.Body.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(string(buffer[:n]), "data: ")
	message := data[strings.Index(data, "/message"):]
	message = r.url + strings.TrimSpace(message)
	for _, id := range []string{`1.0`, `"\u0061"`, `2e0`, `"<"`, `{"not":"an id"}`, `[1]`, `1e300`, `"` + strings.Repeat("x", 5000) + `"`} {
		response, body := ask(t, "POST", message, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id))
		if response.StatusCode != http.StatusAccepted {
			t.Errorf("%s: %d %s", id, response.StatusCode, body)
		}
	}
	start := time.Now()
	r.stop()
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestAllowedHostsOfIPv6(t *testing.T) {
	s := serve(t, hosting.Options{Settings: hosting.Settings{AllowedHosts: []string{"[fd00::1]", "fd00:0::2"}}})
	for host, want := range map[string]int{
		"[fd00::1]:80": 200, "[FD00::1]": 200, "[fd00:0:0::1]": 200, "[fd00::2]:9": 200, "[fd00::3]": 403, "fd00": 403, "[]": 403,
	} {
		if response, body := ask(t, "POST", s.url+"/mcp", initialize, "Host: "+host); response.StatusCode != want {
			t.Errorf("%s: %d %s", host, response.StatusCode, body)
		}
	}
}

// The subscriptions of a client are stored in memory and in its session.
func TestSubscriptionsAreLimited(t *testing.T) {
	s := run(t, time.Minute)
	c := dialSSE(t, s.url)
	updated := updates(c)
	subscribe(t, c, "thing://"+strings.Repeat("x", 2048))
	for i := range 1001 {
		subscribe(t, c, fmt.Sprint("thing://", i))
	}
	s.subscriptions.Updated("thing://"+strings.Repeat("x", 2048), "thing://1000", "thing://999")
	if got := <-updated; got != "thing://999" {
		t.Errorf("got %.20s", got)
	}
}

func TestBatchesNeedASession(t *testing.T) {
	s := serve(t, hosting.Options{})
	response, body := ask(t, "POST", s.url+"/mcp", "["+callOf("count")+"]")
	if strings.Contains(body, "no session") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}
