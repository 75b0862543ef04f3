package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// way is how clients of one protocol get the first token of a new conversation. It returns how long that
// takes.
type way struct {
	name  string
	first func(context.Context) (time.Duration, error)
	times []time.Duration
}

// fronts compares how long clients of other protocols wait for the first token with those of AG-UI.
// Each request starts a conversation, and the model takes no time.
func fronts(ctx context.Context, s *stack, n size, t *table) error {
	const user = "remote"
	posts := func(to string, body any) func(context.Context) (time.Duration, error) {
		return func(ctx context.Context) (time.Duration, error) {
			_, took, err := s.firstToken(ctx, to, body)
			return took, err
		}
	}
	messages := []map[string]any{{"role": "user", "content": user}}
	ways := []way{
		{name: "AG-UI", first: posts(s.url+"/conversations", message{user})},
		{name: "chat/completions", first: posts(s.url+"/v1/chat/completions", map[string]any{"stream": true, "messages": messages})},
		{name: "responses", first: posts(s.url+"/v1/responses", map[string]any{"stream": true, "input": user})},
		{name: "Ollama", first: posts(s.ollama+"/api/chat", map[string]any{"model": s.config.Name, "messages": messages})},
		{name: "MCP Agent's API", first: func(ctx context.Context) (time.Duration, error) { return s.submitThenStream(ctx, user) }},
		{name: "MCP Agent's shell", first: func(ctx context.Context) (time.Duration, error) { return s.streamThenSubmit(ctx, user) }},
	}
	for range 20 * n.rounds {
		for i := range ways {
			took, err := ways[i].first(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", ways[i].name, err)
			}
			ways[i].times = append(ways[i].times, took)
		}
	}
	agui := quantile(ways[0].times, .5)
	for _, w := range ways[1:] {
		took := quantile(w.times, .5)
		ratio := float64(took) / float64(agui)
		t.ratio(fmt.Sprintf("events: first token of %s, median / of AG-UI", w.name), ms(took), ms(agui), ratio, "≤ 1.20", ratio <= 1.2)
	}
	return nil
}

// submitThenStream does what AgentClient does: it sends a message, and then opens a stream.
func (s *stack) submitThenStream(ctx context.Context, text string) (time.Duration, error) {
	client, began := uuid.NewString(), time.Now()
	if err := s.submit(ctx, s.agent+"/api/v1/submit", client, text); err != nil {
		return 0, err
	}
	stream, err := s.listen(ctx, s.agent+"/api/v1/stream/"+client)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	return s.token(stream, began)
}

// streamThenSubmit does what the shell does: its stream is open when it sends a message.
func (s *stack) streamThenSubmit(ctx context.Context, text string) (time.Duration, error) {
	client := uuid.NewString()
	stream, err := s.listen(ctx, s.shell+"/stream?client_id="+url.QueryEscape(client))
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	began := time.Now()
	if err := s.submit(ctx, s.shell+"/submit", client, text); err != nil {
		return 0, err
	}
	return s.token(stream, began)
}

func (s *stack) submit(ctx context.Context, to, client, text string) error {
	data, err := json.Marshal(map[string]any{"client_id": client, "text": text})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, "POST", to, bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s", to, res.Status, answer)
	}
	return err
}

// listen opens a stream. Its headers are there when it returns.
func (s *stack) listen(ctx context.Context, from string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, "GET", from, nil)
	if err != nil {
		return nil, err
	}
	res, err := s.http.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("%s: %s", from, res.Status)
	}
	return res.Body, nil
}

// token reads a turn to its end.
func (s *stack) token(stream io.Reader, began time.Time) (time.Duration, error) {
	age, took, err := readToken(stream, began, func(line string) bool { return strings.HasPrefix(line, "event: done") })
	if err == nil && age < 0 {
		err = errors.New("a turn without a token")
	}
	return took, err
}
