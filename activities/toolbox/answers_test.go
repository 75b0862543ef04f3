package toolbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// flood is an SSE server that sends more requests than may be open before it lists its tools,
// and accepts no answer.
type flood struct {
	events  chan string
	waiting atomic.Int32 // answers that wait to be accepted
}

func (f *flood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /post\n\n")
		for {
			w.(http.Flusher).Flush()
			select {
			case event := <-f.events:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", event)
			case <-r.Context().Done():
				return
			}
		}
	}
	body, _ := io.ReadAll(r.Body)
	var req struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal(body, &req)
	switch req.Method {
	case "":
		f.waiting.Add(1)
		defer f.waiting.Add(-1)
		<-r.Context().Done()
		return
	case "initialize":
		f.events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, hello("")(w, nil))
	case "tools/list":
		for i := range toolbox.MaxAnswers + 100 {
			f.events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
		}
		f.events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, oneTool)
	}
	w.WriteHeader(http.StatusAccepted)
}

func TestAServerThatTakesNoAnswersIsNotGivenMoreAndMore(t *testing.T) {
	f := &flood{events: make(chan string)}
	place := newSite(t)
	place.startHandler(f)
	box := openServers(t, place.sse("web"))
	if got := names(box.Tools(t.Context())); got != "touch" {
		t.Fatalf("got %q, %+v", got, box.States())
	}
	eventually(t, "the answers wait", func() bool { return f.waiting.Load() >= toolbox.MaxAnswers })
	if n := f.waiting.Load(); n > toolbox.MaxAnswers {
		t.Errorf("%d answers wait", n)
	}
}

func TestACallMayNotAskTooMuchAtATime(t *testing.T) {
	var requests []string
	for i := range toolbox.MaxAsked + 1 {
		requests = append(requests, fmt.Sprintf(`"q%d":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object"}}}`, i))
	}
	call := says(`{"resultType":"input_required","inputRequests":{` + strings.Join(requests, ",") + `}}`)
	s := serveRaw(t, raw{"tools/list": says(oneTool), "tools/call": call}).server("web")
	s.MayAsk = true
	box := open(t, toolbox.Options{Servers: []toolbox.Server{s}, Elicitor: fakeElicitor{
		ElicitFn: func(ctx context.Context, _ toolbox.Question) (toolbox.Answer, error) {
			<-ctx.Done()
			return toolbox.Answer{}, ctx.Err()
		},
	}})
	_, err := box.Call(t.Context(), toolbox.Call{Server: "web", Tool: "touch"})
	wantKind(t, err, contract.KindToolFailed)
	if !strings.Contains(err.Error(), "too much is asked at a time") {
		t.Errorf("got %v", err)
	}
}
