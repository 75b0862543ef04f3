package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

const (
	turnTimeout  = 2 * time.Minute
	pollInterval = 2 * time.Millisecond
)

// List runs a list turn in a new conversation.
func (s *Server) List(ctx context.Context) error {
	_, err := s.do(ctx, "list", s.peer.List, s.turn())
	return err
}

// Ask starts a conversation that waits for a decision.
func (s *Server) Ask(ctx context.Context) (Waiting, error) {
	vars, err := s.do(ctx, "approval", s.peer.Approval, s.turn())
	return Waiting{s, vars}, err
}

// Waiting is a conversation that waits for a decision.
type Waiting struct {
	server *Server
	vars   variables
}

// Decide approves, and returns when the turn has ended.
func (w Waiting) Decide(ctx context.Context) error {
	_, err := w.server.do(ctx, "decision", w.server.peer.Decision, w.vars)
	return err
}

// turn returns the variables of a new turn.
func (s *Server) turn() variables { return s.vars.with(variables{"ID": uuid.NewString()}) }

// do sends a step and waits until a response says what is expected. It returns the variables
// with what the step keeps.
func (s *Server) do(ctx context.Context, name string, step Step, vars variables) (variables, error) {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	kept, err := s.await(ctx, step, vars)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", name, s.peer.Name, err)
	}
	return kept, nil
}

func (s *Server) await(ctx context.Context, step Step, vars variables) (variables, error) {
	response, err := s.send(ctx, step.Request, vars)
	for err == nil {
		vars = vars.with(valuesOf(response, step.Keep))
		missed := missing(response, step.Until)
		if missed == "" {
			return vars, nil
		}
		if step.Poll == nil {
			return nil, fmt.Errorf("%s: %s", missed, response)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %s: %w", missed, response, ctx.Err())
		case <-time.After(pollInterval):
		}
		response, err = s.send(ctx, *step.Poll, vars)
	}
	return nil, err
}

// valuesOf returns those values of a response that are there.
func valuesOf(response []byte, paths map[string]string) variables {
	out := variables{}
	for name, path := range paths {
		if value := gjson.GetBytes(response, path); value.Exists() {
			out[name] = value.String()
		}
	}
	return out
}

// missing says which expected value a response does not have.
func missing(response []byte, expected map[string]string) string {
	for path, value := range expected {
		if got := gjson.GetBytes(response, path).String(); got != value {
			return fmt.Sprintf("%s is %q, expected %q", path, got, value)
		}
	}
	return ""
}

// send sends a request and returns the body of its response.
func (s *Server) send(ctx context.Context, r Request, vars variables) ([]byte, error) {
	req, err := r.build(ctx, vars)
	if err != nil {
		return nil, err
	}
	res, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", req.Method, req.URL, res.Status, body)
	}
	return body, err
}

// build replaces the variables of a request.
func (r Request) build(ctx context.Context, vars variables) (*http.Request, error) {
	address, err := vars.expand(r.URL)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	method := "GET"
	if r.Body != nil {
		data, err := json.Marshal(r.Body)
		if err != nil {
			return nil, err
		}
		text, err := vars.expandJSON(string(data))
		if err != nil {
			return nil, err
		}
		body, method = strings.NewReader(text), "POST"
	}
	if r.Method != "" {
		method = r.Method
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range r.Headers {
		if value, err = vars.expand(value); err != nil {
			return nil, err
		}
		req.Header.Set(name, value)
	}
	return req, nil
}
