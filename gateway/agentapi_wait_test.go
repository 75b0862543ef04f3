package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// A client that waits gets the turn of its message, also when others came before and it takes several states.
func TestAWaitingClientGetsItsOwnTurn(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	later := m.work
	waits := make(chan string, 1)
	m.work = func(s *script) func(contract.MessageSignal) {
		act := later(s)
		return func(msg contract.MessageSignal) {
			if len(s.sent) == 1 {
				s.answer(msg)
				return
			}
			act(msg)
			waits <- s.view.Pending[0].UUID
		}
	}
	a := agentAPIOf(t, m)
	a.do(200, a.api, "POST", "/api/v1/submit", `{"client_id":"c","text":"hello","wait":true}`)
	decided := make(chan error, 1)
	go func() {
		path := a.api.URL + "/api/v1/gate/" + <-waits
		time.Sleep(20 * time.Millisecond) // a state that waits is read before
		answer, err := http.Post(path, "application/json", strings.NewReader(`{"approve":true}`))
		if err == nil {
			err = answer.Body.Close()
		}
		decided <- err
	}()
	got := a.do(200, a.api, "POST", "/api/v1/submit", `{"client_id":"c","text":"drop all","wait":true}`)
	if err := <-decided; err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got["text"]); got["status"] != "complete" || strings.Contains(text, "hello") || !strings.HasSuffix(text, "approved: true") {
		t.Errorf("%v", got)
	}
}
