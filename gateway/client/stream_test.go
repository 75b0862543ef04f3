package client_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/client"
)

// replies answers one request after the other. A body without its end says nothing more until
// the request is cancelled.
type replies []func(*http.Request) (status int, body string, ends bool)

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	reply := (*r)[0]
	*r = (*r)[1:]
	status, body, ends := reply(req)
	if status == 0 {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	var b io.Reader = strings.NewReader(body)
	if !ends {
		b = io.MultiReader(b, silent{req.Context()})
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(b), Header: http.Header{}, Request: req}, nil
}

type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func newClient(t *testing.T, r replies) *client.Client {
	t.Helper()
	c, err := client.New("http://localhost:8080", client.Options{HTTP: &r})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	started  = "id: 7\ndata: {\"type\":\"RUN_STARTED\",\"threadId\":\"c\"}\n\n"
	finished = "id: 9\ndata: {\"type\":\"RUN_FINISHED\",\"threadId\":\"c\"}\n\n"
)

func TestASilentStreamIsResumedAndAnOldPositionBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		after := func(status int, body string, ends bool) func(*http.Request) (int, string, bool) {
			return func(r *http.Request) (int, string, bool) {
				asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Last-Event-ID"))
				return status, body, ends
			}
		}
		c := newClient(t, replies{
			after(200, started, false), // and then nothing
			after(0, "", false),        // not even a header
			after(400, `{"error":"Last-Event-ID: unknown"}`, true),
			after(200, started+finished, true),
		})
		start, events := time.Now(), ""
		for e, err := range c.Rest(t.Context(), "c", "5") {
			if err != nil {
				t.Fatal(err)
			}
			events += string(e.Type) + " "
		}
		if events != "RUN_STARTED RUN_STARTED RUN_FINISHED " {
			t.Errorf("got %s", events)
		}
		const path = "GET /conversations/c/events "
		if want := path + "5," + path + "7," + path + "7," + path; strings.Join(asked, ",") != want {
			t.Errorf("asked %q, want %q", asked, want)
		}
		if took := time.Since(start); took < 2*time.Minute || took > 3*time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

func TestAPositionThatTheCallerInventedIsAnError(t *testing.T) {
	c := newClient(t, replies{func(*http.Request) (int, string, bool) { return 400, `{"error":"Last-Event-ID: unknown"}`, true }})
	for _, err := range c.Follow(t.Context(), "c", "nonsense") {
		if client.StatusOf(err) != 400 {
			t.Errorf("got %v", err)
		}
	}
}

func TestAReplyThatNeverComesIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := func(*http.Request) (int, string, bool) { return 0, "", false }
		_, err := newClient(t, replies{never}).Conversation(t.Context(), "c")
		if err == nil || !strings.Contains(err.Error(), "says nothing") {
			t.Errorf("got %v", err)
		}
	})
}
