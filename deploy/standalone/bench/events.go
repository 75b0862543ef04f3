package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

// The numbers of readers: in total, and of one running conversation.
const (
	idleReaders = 1000
	manyReaders = 100
)

// events measures the delay of tokens from the provider to a reader, and the cost of readers.
func events(ctx context.Context, s *stack, n size, t *table) error {
	p := newProvider()
	defer p.Close()
	s.model.remote = router.New(router.Options{
		Models: []llm.Entry{{Name: "bench", Provider: contract.ProviderCompatible, Model: "bench", BaseURL: p.URL + "/v1"}},
	})
	for _, goal := range []struct {
		clients, rounds int
		overhead        time.Duration
	}{{1, 20 * n.rounds, 2 * time.Millisecond}, {n.clients, n.rounds, 10 * time.Millisecond}} {
		ours, direct, err := firstTokens(ctx, s, p, goal.clients, goal.rounds)
		if err != nil {
			return err
		}
		more := quantile(ours, .5) - quantile(direct, .5)
		t.value(fmt.Sprintf("events: %d conversations, first token, median more than direct", goal.clients), ms(more),
			fmt.Sprintf("≤ %d ms", goal.overhead.Milliseconds()), more <= goal.overhead)
	}
	if err := fronts(ctx, s, n, t); err != nil {
		return err
	}
	if err := crowd(ctx, s, n, t); err != nil {
		return err
	}
	return idle(ctx, s, n, t)
}

// provider speaks chat completions. It sends one token separately, whose text is the time of
// sending, behind a space: a client may get its first character alone.
type provider struct{ *httptest.Server }

func newProvider() provider {
	return provider{httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := func(delta, finish string) {
			fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
			_ = http.NewResponseController(w).Flush()
		}
		chunk(`{"role":"assistant","content":""}`, "null")
		chunk(fmt.Sprintf(`{"content":" @%d "}`, time.Now().UnixNano()), "null")
		pause(r.Context(), time.After(100*time.Millisecond)) // the reply continues for a while
		chunk(`{"content":"done"}`, "null")
		chunk(`{}`, `"stop"`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))}
}

// firstTokens returns the times from the provider to a client, through the agent and directly,
// in alternating rounds.
func firstTokens(ctx context.Context, s *stack, p provider, clients, rounds int) (ours, direct []time.Duration, err error) {
	chats, err := s.chats(ctx, clients, "")
	if err != nil {
		return nil, nil, err
	}
	for range rounds {
		for _, way := range []struct {
			times *[]time.Duration
			url   func(i int) string
			body  any
		}{
			{&ours, func(i int) string { return s.url + "/conversations/" + chats[i].id + "/messages" }, message{"remote"}},
			{&direct, func(int) string { return p.URL + "/v1/chat/completions" }, message{"remote"}},
		} {
			times, err := abreast(clients, func(i int) (time.Duration, error) {
				age, _, err := s.firstToken(ctx, way.url(i), way.body)
				return age, err
			})
			if err != nil {
				return nil, nil, err
			}
			*way.times = append(*way.times, times...)
		}
	}
	return ours, direct, nil
}

func abreast(n int, f func(i int) (time.Duration, error)) ([]time.Duration, error) {
	times, errs := make([]time.Duration, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { times[i], errs[i] = f(i) })
	}
	group.Wait()
	return times, errors.Join(errs...)
}

// firstToken posts a request and reads its stream to the end. It returns the age of the first
// token on arrival, and how long it took to arrive.
func (s *site) firstToken(ctx context.Context, to string, body any) (age, took time.Duration, err error) {
	data, err := json.Marshal(body)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, "POST", to, bytes.NewReader(data))
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := s.http.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	age, took, err = readToken(res.Body, began, func(string) bool { return false })
	if err != nil {
		return 0, 0, err
	}
	if age < 0 {
		return 0, 0, fmt.Errorf("%s: %s without a token", to, res.Status)
	}
	return age, took, nil
}

// crowd compares turns with many readers and turns without readers, in conversations of a usual
// length.
func crowd(ctx context.Context, s *stack, n size, t *table) error {
	var watched, alone []time.Duration
	for range n.rounds {
		chats, err := s.chats(ctx, 2, "")
		if err != nil {
			return err
		}
		readers, err := s.follow(ctx, chats[0].id, manyReaders)
		if err != nil {
			return err
		}
		for range usualLength { // turn by turn, because machines drift
			for i, times := range []*[]time.Duration{&watched, &alone} {
				c := chats[i]
				more, err := each(1, func() error {
					return c.call(ctx, "POST", "/conversations/"+c.id+"/messages", message{"go"}, nil)
				})
				if err != nil {
					return err
				}
				*times = append(*times, more...)
			}
		}
		readers.close()
	}
	ours, theirs := quantile(watched, .5), quantile(alone, .5)
	ratio := float64(ours) / float64(theirs)
	t.ratio(fmt.Sprintf("events: a turn with %d readers, median / with none", manyReaders), ms(ours), ms(theirs), ratio, "≤ 1.10", ratio <= 1.1)
	return nil
}

// idle measures the memory of idle readers.
func idle(ctx context.Context, s *stack, n size, t *table) error {
	chats, err := s.chats(ctx, 20, "go")
	if err != nil {
		return err
	}
	before := memoryInUse()
	var all followers
	defer func() { all.close() }()
	for i := range chats {
		readers, err := s.follow(ctx, chats[i].id, idleReaders/len(chats))
		all = append(all, readers...)
		if err != nil {
			return err
		}
	}
	used := memoryInUse() - before
	t.value(fmt.Sprintf("events: %d idle readers, memory with their connections' other ends", idleReaders),
		fmt.Sprintf("%.1f MiB", float64(used)/(1<<20)), "< 100 MiB", used < 100<<20)
	return nil
}

func memoryInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// followers are connections that follow a conversation.
type followers []net.Conn

func (f followers) close() {
	for _, c := range f {
		c.Close()
	}
}

// follow opens readers of a conversation and waits for the first events of each. Later events
// are discarded.
func (s *site) follow(ctx context.Context, id string, count int) (followers, error) {
	host := strings.TrimPrefix(s.url, "http://")
	var out followers
	for range count {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
		if err != nil {
			return out, err
		}
		out = append(out, c)
		fmt.Fprintf(c, "GET /conversations/%s/events HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", id, host)
		first := make([]byte, 4096)
		seen := ""
		for !strings.Contains(seen, "RUN_STARTED") {
			n, err := c.Read(first)
			if err != nil {
				return out, fmt.Errorf("follow %s: %w: %s", id, err, seen)
			}
			seen += string(first[:n])
		}
		go func() { _, _ = io.Copy(io.Discard, c) }() // until it is closed
	}
	return slices.Clip(out), nil
}

// readToken reads a stream to its end, or to a line that ends it. It returns the age of the first token on
// arrival, or -1, and how long after began it arrived.
func readToken(r io.Reader, began time.Time, ends func(line string) bool) (age, took time.Duration, err error) {
	age = -1
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if _, rest, ok := strings.Cut(line, "@"); ok && age < 0 {
			var sent int64
			if _, scanned := fmt.Sscanf(rest, "%d", &sent); scanned == nil {
				age, took = time.Since(time.Unix(0, sent)), time.Since(began)
			}
		}
		if errors.Is(err, io.EOF) || err == nil && ends(line) {
			return age, took, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}
