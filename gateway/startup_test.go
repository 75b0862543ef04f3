package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway"
)

// ask sends a request and returns the reply and the time it took.
func ask(h http.Handler, method, path string) (*httptest.ResponseRecorder, time.Duration) {
	began := time.Now()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest(method, path, ""))
	return w, time.Since(began)
}

func TestAStartingGatewayAnswersProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := gateway.NewStartup()
		for path, want := range map[string]struct {
			status int
			within time.Duration
			text   string
		}{
			"/health":        {200, 0, `{"status":"ok"}`},
			"/health/":       {200, 0, `{"status":"ok"}`},
			"/health/ready":  {503, 0, `"problems":["the agent is starting: it waits for its Temporal server`},
			"/conversations": {503, 10 * time.Second, `{"error":"the agent is starting`},
		} {
			w, took := ask(s, "GET", path)
			if w.Code != want.status || took > want.within || !strings.Contains(w.Body.String(), want.text) {
				t.Errorf("%s: %d after %s: %s", path, w.Code, took, w.Body)
			}
			if again := w.Header().Get("Retry-After"); (again != "") != (want.status == 503) {
				t.Errorf("%s: Retry-After %q", path, again)
			}
		}
	})
}

func TestRequestsOfAShortStartAreServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := gateway.NewStartup()
		time.AfterFunc(time.Second, func() { s.Open(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })) })
		for _, path := range []string{"/conversations", "/health"} { // the second comes after the start
			if w, took := ask(s, "POST", path); w.Code != 204 || took > time.Second {
				t.Errorf("%s: %d after %s", path, w.Code, took)
			}
		}
	})
}

func TestAnAbandonedStartEndsAllWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := gateway.NewStartup()
		time.AfterFunc(time.Second, s.Close)
		for range 2 {
			if w, took := ask(s, "POST", "/conversations"); w.Code != 503 || took > time.Second {
				t.Errorf("%d after %s", w.Code, took)
			}
		}
	})
}
