package peer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

func TestWhatAFailureMeans(t *testing.T) {
	plain := func(code int, header ...string) func(http.ResponseWriter, request) {
		return func(w http.ResponseWriter, _ request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
		}
	}
	answer := func(code int, message string) func(http.ResponseWriter, request) {
		return func(w http.ResponseWriter, in request) { rpc(w, in, map[string]any{"code": code, "message": message}) }
	}
	body := func(text string) func(http.ResponseWriter, request) {
		return func(w http.ResponseWriter, _ request) { fmt.Fprint(w, text) }
	}
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, request)
		kind   contract.Kind
		text   string
		after  time.Duration
	}{
		"too many":          {plain(429, "Retry-After", "7"), contract.KindPeerUnavailable, "HTTP 429", 7 * time.Second},
		"not now":           {plain(503, "Retry-After", "3"), contract.KindPeerUnavailable, "HTTP 503", 3 * time.Second},
		"not now, for ever": {plain(503, "Retry-After", "99999999999"), contract.KindPeerUnavailable, "HTTP 503", 24 * time.Hour},
		"not now, strange":  {plain(503, "Retry-After", "-1"), contract.KindPeerUnavailable, "HTTP 503", 0},
		"broken":            {plain(500), contract.KindPeerUnavailable, "HTTP 500: Internal Server Error", 0},
		"proxy":             {plain(502), contract.KindPeerUnavailable, "HTTP 502", 0},
		"not there":         {plain(404), contract.KindPeerFailed, "agent writer: HTTP 404: Not Found", 0},
		"bad":               {plain(400), contract.KindPeerFailed, "HTTP 400", 0},
		"too large":         {plain(413), contract.KindPeerFailed, "HTTP 413", 0},
		"moved":             {plain(302, "Location", "https://else.example/a2a?key=s3cret"), contract.KindPeerFailed, "https://else.example/a2a, which", 0},
		"parse error":       {answer(-32700, "what?"), contract.KindPeerFailed, "agent writer: error -32700: what?", 0},
		"invalid":           {answer(-32600, "what?"), contract.KindPeerFailed, "error -32600", 0},
		"unknown method":    {answer(-32601, "what?"), contract.KindPeerFailed, "error -32601", 0},
		"internal":          {answer(-32603, "oh"), contract.KindPeerFailed, "error -32603: oh", 0},
		"unsupported":       {answer(-32005, "no"), contract.KindPeerFailed, "error -32005", 0},
		"not now, in JSON-RPC": {body(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no answer","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo"},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]}}`), contract.KindPeerUnavailable, "error -32000: no answer", 2 * time.Second},
		"no, in JSON-RPC":     {answer(-32000, "no"), contract.KindPeerFailed, "error -32000: no", 0},
		"code of its own":     {answer(42, "no"), contract.KindPeerFailed, "error 42", 0},
		"lost":                {func(http.ResponseWriter, request) { panic(http.ErrAbortHandler) }, contract.KindPeerUnavailable, "agent writer: ", 0},
		"no JSON":             {body("<html>"), contract.KindPeerFailed, "not A2A", 0},
		"nothing":             {body(`{"jsonrpc":"2.0","id":1}`), contract.KindPeerFailed, "neither a result nor an error", 0},
		"null":                {body(`{"jsonrpc":"2.0","id":1,"result":null}`), contract.KindPeerFailed, "not A2A", 0},
		"something else":      {body(`{"jsonrpc":"2.0","id":1,"result":{"x":1}}`), contract.KindPeerFailed, "neither a task nor a message", 0},
		"a list":              {body(`[]`), contract.KindPeerFailed, "not A2A", 0},
		"data of its own":     {body(`{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"bad","data":{"any":"thing"}}}`), contract.KindPeerFailed, "error -32602: bad", 0},
		"an error with a 400": {func(w http.ResponseWriter, in request) { w.WriteHeader(400); answer(-32602, "bad")(w, in) }, contract.KindPeerFailed, "error -32602: bad", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := serveScript(t, card10(false), tt.answer)
			f := wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), tt.kind)
			contains(t, f.Message, tt.text)
			if f.RetryAfter != tt.after || strings.Contains(f.Message, "s3cret") {
				t.Errorf("after %s: %s", f.RetryAfter, f.Message)
			}
		})
	}
}

func TestAnAgentThatWantsALoginIsAReply(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, request){
		"401": func(w http.ResponseWriter, _ request) { w.WriteHeader(401) },
		"403": func(w http.ResponseWriter, in request) {
			w.WriteHeader(403)
			rpc(w, in, map[string]any{"code": -32000, "message": "no"})
		},
		"its own code": func(w http.ResponseWriter, in request) { rpc(w, in, map[string]any{"code": -31401, "message": "who?"}) },
		"permission":   func(w http.ResponseWriter, in request) { rpc(w, in, map[string]any{"code": -31403, "message": "who?"}) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, streaming := range []bool{false, true} {
				r := serveScript(t, card10(streaming), answer)
				reply := send(t, peers(t, peer.Options{}), start(r, "hello"))
				same(t, "state", reply.State, contract.TaskAuthRequired)
				contains(t, reply.Text, "Authentication required by A2A agent writer")
			}
		})
	}
}

func TestAnAgentThatIsNotThereIsUnavailable(t *testing.T) {
	r := serveScript(t, card10(false), nil)
	r.Close()
	f := wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), contract.KindPeerUnavailable)
	contains(t, f.Message, "agent writer: ", "refused")
}

func TestAnAgentWhoseSettingsLackSomethingIsNotAsked(t *testing.T) {
	r := serveScript(t, card10(false), nil)
	broken := peer.Agent{Name: "writer", URL: r.URL + "/a2a", Problem: "headers: not set in the environment: [TOKEN]"}
	m := start(r, "hello")
	m.Peer.Name, m.Peer.URL = broken.Name, broken.URL
	f := wantFailure(t, peers(t, peer.Options{Agents: []peer.Agent{broken}}), m, contract.KindPeerUnavailable)
	contains(t, f.Message, "agent writer: headers: not set in the environment: [TOKEN]")
	if len(r.seen) > 0 {
		t.Errorf("it was asked: %+v", r.seen)
	}
}

func TestAnAgentThatDoesNotAnswerIsUnavailable(t *testing.T) {
	done := make(chan struct{})
	r := serveScript(t, card10(false), func(http.ResponseWriter, request) { <-done })
	t.Cleanup(func() { close(done) })
	p := peers(t, peer.Options{Wait: 100 * time.Millisecond})
	f := wantFailure(t, p, start(r, "hello"), contract.KindPeerUnavailable)
	same(t, "text", f.Message, "agent writer: no answer in time")
}

func TestALongAnswerIsNotRead(t *testing.T) {
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", strings.Repeat("x", 17<<20))})
	})
	f := wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), contract.KindPeerFailed)
	contains(t, f.Message, "more than 16 MiB")
}

func TestAFailureIsShortAndReadable(t *testing.T) {
	r := serveScript(t, card10(false), func(w http.ResponseWriter, _ request) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"`+strings.Repeat("é\xff", 3000)+`"}}`)
	})
	f := wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), contract.KindPeerFailed)
	if len(f.Message) > 2000 || !utf8.ValidString(f.Message) || !strings.HasSuffix(f.Message, "…") {
		t.Errorf("%d bytes: %q", len(f.Message), f.Message)
	}
}

func TestRedirects(t *testing.T) {
	inside := serveScript(t, nil, func(w http.ResponseWriter, in request) {
		rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", headers(in)+in.Header.Get("A2A-Version"))})
	})
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		if in.Path == "/a2a" {
			w.Header().Set("Location", inside.URL+"/in")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	})
	m := start(r, "hello")
	m.Bearer, m.SessionID = "t0ken", "sid"
	f := wantFailure(t, peers(t, peer.Options{}), m, contract.KindPeerFailed)
	contains(t, f.Message, "refused: 127.0.0.1 is a private or special address")
	same(t, "requests", len(inside.requests()), 0)
	p := peers(t, peer.Options{Agents: []peer.Agent{{Name: "writer", URL: to(r).URL, AllowPrivate: true, Headers: map[string]string{"X-Team": "shop"}}}})
	same(t, "without headers", send(t, p, m).Text, "  1.0")
}
