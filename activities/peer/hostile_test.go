package peer_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/redact"
)

// foreignTask returns a task of 1.0 with another ID.
func foreignTask(state string) map[string]any {
	task := taskOf(state, "of somebody else")
	task["id"] = "t2"
	return task
}

func TestAnAnswerAboutAnotherTaskIsNotBelieved(t *testing.T) {
	for name, m := range map[string]peer.Message{
		"look": {TaskID: "t1"}, "cancel": {TaskID: "t1", Cancel: true}, "decision": {TaskID: "t1", Decision: contract.Approved},
	} {
		for dialect, card := range map[string]any{"1.0": card10(false), "old": cardOld} {
			t.Run(name+" "+dialect, func(t *testing.T) {
				r := serveScript(t, card, func(w http.ResponseWriter, in request) { rpc(w, in, foreignTask("completed")) })
				m.Peer = to(r)
				f := wantFailure(t, peers(t, peer.Options{}), m, contract.KindPeerFailed)
				contains(t, f.Message, "about another task")
			})
		}
	}
}

func TestADecisionIsAnsweredByItsTask(t *testing.T) {
	for dialect, card := range map[string]any{"1.0": card10(false), "old": cardOld} {
		t.Run(dialect, func(t *testing.T) {
			r := serveScript(t, card, func(w http.ResponseWriter, in request) {
				switch in.Method {
				case "SendMessage":
					rpc(w, in, map[string]any{"task": foreignTask("TASK_STATE_WORKING")})
				case "message/send":
					rpc(w, in, foreignTask("working"))
				default:
					rpc(w, in, taskOf("input-required", "Sure?"))
				}
			})
			reply, err := peers(t, peer.Options{Pause: func(context.Context, time.Duration) {}}).Send(t.Context(),
				verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved))
			if err == nil && reply.TaskID != "t1" {
				t.Errorf("it goes on with %s", reply.TaskID)
			}
		})
	}
}

func TestEventsOfOtherTasksAreLeftOut(t *testing.T) {
	other := map[string]any{"statusUpdate": map[string]any{"taskId": "t2", "status": map[string]any{"state": "TASK_STATE_COMPLETED"}}}
	words := map[string]any{"artifactUpdate": map[string]any{"taskId": "t2", "artifact": map[string]any{"artifactId": "y", "parts": []any{map[string]any{"text": "not ours"}}}}}
	r := serveScript(t, card10(true), func(w http.ResponseWriter, in request) {
		stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")}, other, words, map[string]any{"task": foreignTask("TASK_STATE_FAILED")},
			chunk("ours", false), statusUpdate("TASK_STATE_COMPLETED"))
	})
	reply := send(t, peers(t, peer.Options{}), start(r, "hello"))
	same(t, "reply", fmt.Sprint(reply.State, " ", reply.TaskID, " ", reply.Text), "completed t1 ours")
}

func TestIDsAreLimited(t *testing.T) {
	for _, key := range []string{"id", "contextId"} {
		task := taskOf("TASK_STATE_WORKING", "")
		task[key] = strings.Repeat("x", 1000)
		r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
			if in.Method == "GetTask" {
				rpc(w, in, task)
				return
			}
			rpc(w, in, map[string]any{"task": task})
		})
		var err error
		withLongerWaits(t, func(p *peer.Peers) bool {
			_, err = p.Send(t.Context(), start(r, "hello"))
			return err == nil || !strings.Contains(err.Error(), "no answer in time")
		})
		contains(t, failed(t, err, contract.KindPeerFailed).Message, "an ID of more than 512 bytes")
	}
}

// An empty part takes three bytes in an answer, and forty times as much memory.
func TestAnAnswerOfCountlessValuesIsNotRead(t *testing.T) {
	r := serveScript(t, card10(false), func(w http.ResponseWriter, _ request) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","status":{"state":"completed"},"artifacts":[{"parts":[{}`+strings.Repeat(",{}", 1<<20)+`]}]}}}`)
	})
	contains(t, wantFailure(t, peers(t, peer.Options{}), start(r, "hello"), contract.KindPeerFailed).Message, "too large")
}

func TestATextInCountlessPiecesIsRead(t *testing.T) {
	const pieces = 30_000
	r := serveScript(t, card10(true), func(w http.ResponseWriter, in request) {
		stream(w, in, map[string]any{"task": taskOf("TASK_STATE_WORKING", "")}, chunk("x", false))
		event := strings.TrimSpace(string(mustJSON(map[string]any{"jsonrpc": "2.0", "id": in.ID, "result": chunk(strings.Repeat("x", 200), true)})))
		for range pieces {
			fmt.Fprintf(w, "data: %s\n\n", event)
		}
		stream(w, in, statusUpdate("TASK_STATE_COMPLETED"))
	})
	began := time.Now()
	same(t, "bytes", len(send(t, peers(t, peer.Options{}), start(r, "hello")).Text), 1+200*pieces)
	t.Logf("%s", time.Since(began))
}

func TestAStoppedSendOfTheOldDialectHasAnUnknownOutcome(t *testing.T) {
	waits := oldTask("input-required", "Sure?", "")
	for name, m := range map[string]peer.Message{
		"a message": {Text: "delete it"}, "an approval": {TaskID: "t1", Decision: contract.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			r := serveScript(t, cardOld, func(w http.ResponseWriter, in request) {
				if in.Method == "tasks/get" {
					rpc(w, in, waits)
					return
				}
				stop()
				<-ctx.Done()
			})
			m.Peer = to(r)
			reply, err := peers(t, peer.Options{}).Send(ctx, m)
			f, ok := err.(*peer.Error)
			if !ok || f.Kind != contract.KindPeerFailed {
				t.Fatalf("got %+v, %v", reply, err)
			}
			contains(t, f.Message, "outcome is unknown")
		})
	}
}

// endedContext is a context that ends before the answer is read.
type endedContext struct {
	context.Context
	ended atomic.Bool
}

func (c *endedContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// A complete answer is not an interruption, even if it is invalid.
func TestAWholeAnswerIsNoInterruption(t *testing.T) {
	ctx := &endedContext{Context: t.Context()}
	task := oldTask("completed", "", "done")
	task["id"] = strings.Repeat("x", 1000)
	r := serveScript(t, cardOld, func(w http.ResponseWriter, in request) {
		ctx.ended.Store(true)
		rpc(w, in, task)
	})
	_, err := peers(t, peer.Options{}).Send(ctx, start(r, "delete it"))
	if f, ok := err.(*peer.Error); !ok || f.Kind != contract.KindPeerFailed {
		t.Errorf("got %v", err)
	}
}

func TestADecisionGoesOnlyToATaskThatWaits(t *testing.T) {
	for _, state := range []string{"TASK_STATE_AUTH_REQUIRED", "TASK_STATE_UNSPECIFIED"} {
		r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) { rpc(w, in, taskOf(state, "log in")) })
		send(t, peers(t, peer.Options{}), verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved))
		same(t, "asked", r.calledMethods(), []string{"GetTask"})
	}
}

const token = "t0ken+of/config="

// openEchoing starts an agent that repeats the headers of its requests in many fields.
func openEchoing(t *testing.T, form func(string) string) *remote {
	return serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		own, bearer := form(in.Header.Get("X-Api-Key")), form(strings.TrimPrefix(in.Header.Get("Authorization"), "Bearer "))
		file := base64.StdEncoding.EncodeToString([]byte("key " + in.Header.Get("X-Api-Key")))
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task":{"id":"t1","artifacts":[{"parts":[{"raw":%q,"filename":"%s"}]}],"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[`+
			`{"text":"%s and %s"},{"data":{"type":"agent-stop-and-go/approval-request","uuid":"u1","tool":"rm %s","arguments":{"n":1.50,"key":"%s"},"chain":["%s"],"schema":{"title":"%s"}}}]}}}}}`,
			in.ID, file, own, own, bearer, bearer, own, bearer, own)
	})
}

func TestCredentialsAreHiddenInWhatAnAgentSays(t *testing.T) {
	for name, form := range map[string]func(string) string{
		"as they are": func(s string) string { return s },
		"escaped":     strings.NewReplacer("/", `\/`, "+", `\u002b`).Replace,
		"of a query":  url.QueryEscape,
		"upper case":  strings.ToUpper,
		"hexadecimal": func(s string) string { return hex.EncodeToString([]byte(s)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := openEchoing(t, form)
			p := peers(t, peer.Options{Agents: []peer.Agent{{Name: "writer", URL: to(r).URL, Headers: map[string]string{"X-Api-Key": token, "X-Team": "a team of shops"}}}})
			m := start(r, "hello")
			m.Bearer = "bearer+of/the/caller"
			reply := send(t, p, m)
			same(t, "text", reply.Text, "[secret] and [bearer token]")
			a := reply.Asked
			same(t, "asked", fmt.Sprint(a.Tool, string(a.Arguments), a.Chain, string(a.Schema)), `rm [bearer token]{"n":1.50,"key":"[secret]"}[[bearer token]]{"title":"[secret]"}`)
		})
	}
}

func TestCredentialsAreHiddenInResultsFailuresAndCards(t *testing.T) {
	data := base64.StdEncoding.EncodeToString([]byte("key " + token))
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, request)
		read   func(*testing.T, *peer.Peers, peer.Message) string
		want   string
	}{
		"a file": {func(w http.ResponseWriter, in request) {
			task := taskOf("TASK_STATE_COMPLETED", "")
			task["artifacts"] = []any{map[string]any{"parts": []any{map[string]any{"raw": data, "filename": token}}}}
			rpc(w, in, map[string]any{"task": task})
		}, func(t *testing.T, p *peer.Peers, m peer.Message) string {
			f := send(t, p, m).Files[0]
			return f.Name + ": " + string(f.Data)
		}, "[secret]: key [secret]"},
		"an error": {func(w http.ResponseWriter, in request) {
			rpc(w, in, map[string]any{"code": 1, "message": "not with " + token})
		},
			func(t *testing.T, p *peer.Peers, m peer.Message) string {
				return wantFailure(t, p, m, contract.KindPeerFailed).Message
			}, "agent writer: error 1: not with [secret]"},
		"a login": {func(w http.ResponseWriter, _ request) { http.Error(w, "not with "+token, http.StatusForbidden) },
			func(t *testing.T, p *peer.Peers, m peer.Message) string { return send(t, p, m).Text },
			"Authentication required by A2A agent writer: HTTP 403: not with [secret]"},
		"a login that breaks off": {func(w http.ResponseWriter, _ request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "not with "+token[:len(token)-1])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
			func(t *testing.T, p *peer.Peers, m peer.Message) string { return send(t, p, m).Text },
			"Authentication required by A2A agent writer: HTTP 403: not with [secret]"},
		"an extract in an error": {func(w http.ResponseWriter, in request) {
			rpc(w, in, map[string]any{"code": 1, "message": "not with " + token[:len(token)-1]})
		},
			func(t *testing.T, p *peer.Peers, m peer.Message) string {
				return wantFailure(t, p, m, contract.KindPeerFailed).Message
			}, "agent writer: error 1: not with [secret]"},
		"a stream": {func(w http.ResponseWriter, in request) {
			stream(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", token)})
		},
			func(t *testing.T, p *peer.Peers, m peer.Message) string { return send(t, p, m).Text }, "[secret]"},
		"the card": {func(w http.ResponseWriter, in request) {
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "")})
		},
			func(t *testing.T, p *peer.Peers, m peer.Message) string {
				send(t, p, m)
				return p.Describe(m.Peer)
			}, "Skills: use [secret]"},
	} {
		t.Run(name, func(t *testing.T) {
			card := card10(name == "a stream").(map[string]any)
			card["skills"] = []any{map[string]any{"name": "use " + token}}
			r := serveScript(t, card, tt.answer)
			p := peers(t, peer.Options{Agents: []peer.Agent{{Name: "writer", URL: to(r).URL, Headers: map[string]string{"X-Own": "Basic " + token}, Secrets: []string{"Basic " + token}}}})
			same(t, "shown", tt.read(t, p, start(r, "hello")), tt.want)
		})
	}
}

// Query parameters that are not credentials are not masked in an agent's texts.
func TestAQueryOfTheURLIsUsedAsItIs(t *testing.T) {
	task := taskOf("TASK_STATE_INPUT_REQUIRED", "May inventory do it?")
	task["id"] = "inventory-42"
	card := card10(false).(map[string]any)
	card["supportedInterfaces"].([]any)[0].(map[string]any)["url"] = "/a2a?agent=inventory&key=K3yOfTheShop"
	r := serveScript(t, card, func(w http.ResponseWriter, in request) { rpc(w, in, map[string]any{"task": task}) })
	p := peers(t, peer.Options{Agents: []peer.Agent{{Name: "writer", URL: r.URL + "/a2a?agent=inventory&key=K3yOfTheShop"}}})
	m := start(r, "hello")
	m.Peer.URL = r.URL + "/a2a?agent=inventory&key=K3yOfTheShop"
	reply := send(t, p, m)
	same(t, "reply", reply.TaskID+" "+reply.Text, "inventory-42 May inventory do it?")
	same(t, "query", r.requests()[0].Query, "agent=inventory&key=K3yOfTheShop")
}

// Histories contain an agent's URL without its secrets.
func TestAnAgentIsKnownByItsURLWithoutSecrets(t *testing.T) {
	r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
		rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done with K3yOfTheShop")})
	})
	whole := r.URL + "/a2a?agent=inventory&key=K3yOfTheShop"
	m := start(r, "hello")
	m.Peer.URL = redact.KeptURL(whole)
	p := peers(t, peer.Options{Agents: []peer.Agent{{Name: "writer", URL: whole, Headers: map[string]string{"X-Team": "shop"}}}})
	same(t, "reply", send(t, p, m).Text, "done with [secret]")
	same(t, "headers", r.requests()[0].Header.Get("X-Team"), "shop")

	elsewhere := peers(t, peer.Options{Agents: []peer.Agent{{Name: "writer", URL: r.URL + "/other?key=K3yOfTheShop"}}})
	why := wantFailure(t, elsewhere, m, contract.KindPeerUnavailable).Message
	contains(t, why, "the conversation began with", "/a2a?agent=inventory&key=…")
	same(t, "requests", len(r.requests()), 1)
}

func TestADecisionIsNotSentToAnotherQuestionInWords(t *testing.T) {
	for name, tt := range map[string]struct {
		shown, now string
		sent       bool
	}{
		"the same": {"Delete a?", "Delete a?", true}, "another": {"Delete a?", "Delete b?", false},
		"it says no more": {"Delete a?", "", true}, "nothing is known": {"", "Delete b?", true},
	} {
		for dialect, card := range map[string]any{"1.0": card10(false), "old": cardOld} {
			t.Run(name+" "+dialect, func(t *testing.T) {
				r := serveScript(t, card, func(w http.ResponseWriter, in request) {
					task := taskOf("input-required", tt.now)
					if strings.Contains(in.Method, "/send") || in.Method == "SendMessage" {
						task = taskOf("completed", "deleted")
					}
					if in.Method == "SendMessage" {
						rpc(w, in, map[string]any{"task": task})
						return
					}
					rpc(w, in, task)
				})
				m := verdict(r, peer.Reply{TaskID: "t1"}, contract.Approved)
				m.Question = tt.shown
				want := contract.TaskInputRequired
				if tt.sent {
					want = contract.TaskCompleted
				}
				same(t, "state", send(t, peers(t, peer.Options{}), m).State, want)
				same(t, "requests", len(r.requests()), map[bool]int{true: 2, false: 1}[tt.sent])
			})
		}
	}
}

func TestWhatWasPerhapsSentBeforeIsNotSentAgainInTheOldDialect(t *testing.T) {
	waits := oldTask("input-required", "Sure?", "")
	for name, tt := range map[string]struct {
		m    peer.Message
		sent int
	}{
		"a message": {peer.Message{Text: "delete it"}, 0}, "an approval": {peer.Message{TaskID: "t1", Decision: contract.Approved}, 0},
		"a rejection": {peer.Message{TaskID: "t1", Decision: contract.Rejected}, 1}, "a cancellation": {peer.Message{TaskID: "t1", Cancel: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := replies(t, cardOld, map[string][]any{"tasks/get": {waits}, "message/send": {oldTask("completed", "", "done")}})
			tt.m.Peer, tt.m.Repeated = to(r), true
			p := peers(t, peer.Options{})
			if tt.sent == 0 {
				contains(t, wantFailure(t, p, tt.m, contract.KindPeerFailed).Message, "outcome is unknown")
			} else {
				send(t, p, tt.m)
			}
			same(t, "sent", len(sentMethods(r)), tt.sent)
		})
	}
	t.Run("other protocols", func(t *testing.T) {
		r := serveScript(t, card10(false), func(w http.ResponseWriter, in request) {
			rpc(w, in, map[string]any{"task": taskOf("TASK_STATE_COMPLETED", "done")})
		})
		m := start(r, "hello")
		m.Repeated = true
		same(t, "text", send(t, peers(t, peer.Options{}), m).Text, "done")
	})
}
