package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/gateway/page"
)

// What is known of the agent is asked again after knownFor, or after triedFor if it did not answer
// within answerTime.
const (
	knownFor   = time.Minute
	triedFor   = time.Second
	answerTime = 3 * time.Second
)

// fact is something that the agent says of itself. It is safe for concurrent use.
type fact[T any] struct {
	read func(context.Context) (T, error)

	mu    sync.Mutex
	value T
	err   error
	until time.Time
}

// get returns the fact. While it is read, others wait for it.
func (f *fact[T]) get(ctx context.Context) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Now().Before(f.until) {
		return f.value, f.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	value, err := f.read(ctx)
	if f.err = err; err != nil {
		f.until = time.Now().Add(triedFor)
		return f.value, err
	}
	f.value, f.until = value, time.Now().Add(knownFor)
	return value, nil
}

// forget has the fact read again.
func (f *fact[T]) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = time.Time{}
}

// agent is the agent.
type agent struct {
	url    *url.URL
	client *http.Client
	// about is what the document says of it, closed whether it asks who calls.
	about  fact[page.Agent]
	closed fact[bool]
}

func newAgent(at *url.URL, transport http.RoundTripper) *agent {
	a := &agent{url: at, client: &http.Client{Transport: transport}}
	a.about.read, a.closed.read = a.readAbout, a.readClosed
	return a
}

// maxAbout is far more than what an agent says of itself.
const maxAbout = 1 << 20

// get requests a part of the API, without being anybody.
func (a *agent) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url.String()+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	return a.client.Do(r)
}

func (a *agent) readAbout(ctx context.Context) (page.Agent, error) {
	reply, err := a.get(ctx, "/")
	if err != nil {
		return page.Agent{}, err
	}
	defer reply.Body.Close()
	var said struct {
		Name, Description, Version string
		Links                      map[string]string
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, maxAbout)).Decode(&said); err != nil || said.Name == "" {
		return page.Agent{}, fmt.Errorf("%s is no agent: GET / is answered with the status %d", a.url, reply.StatusCode)
	}
	out := page.Agent{Name: said.Name, Description: said.Description, Version: said.Version}
	for key, href := range said.Links {
		if key != "temporal_workflows" { // a prefix, which leads nowhere
			out.Links = append(out.Links, page.Link{Href: href, Label: key})
		}
	}
	slices.SortFunc(out.Links, func(a, b page.Link) int {
		if a.Label < b.Label {
			return -1
		}
		return 1
	})
	return out, nil
}

func (a *agent) readClosed(ctx context.Context) (bool, error) {
	reply, err := a.get(ctx, "/me")
	if err != nil {
		return false, err
	}
	defer reply.Body.Close()
	switch reply.StatusCode {
	case http.StatusOK:
		return false, nil
	case http.StatusUnauthorized:
		return true, nil
	}
	return false, fmt.Errorf("%s: GET /me is answered with the status %d", a.url, reply.StatusCode)
}
