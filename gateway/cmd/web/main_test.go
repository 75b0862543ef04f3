package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/config/process"
)

// buffer is written and read at the same time.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func none(string) string { return "" }

func TestCommandLines(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("agent: http://127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args  []string
		usage bool
		says  string
	}{
		"help":                  {[]string{"--help"}, false, "web serves the page of an agent"},
		"version":               {[]string{"--version"}, false, "dev\n"},
		"an unknown flag":       {[]string{"--nope"}, true, "Usage: web"},
		"an argument too many":  {[]string{"extra"}, true, `unexpected argument "extra"`},
		"a file with a mistake": {[]string{"--config", bad}, false, "bad.yaml:1: agent: unknown key"},
		"no file":               {[]string{"--config", filepath.Join(dir, "none.yaml")}, false, "failed to read web config file"},
	} {
		var stdout, stderr buffer
		err := run(context.Background(), c.args, none, &stdout, &stderr)
		said := stdout.String() + stderr.String()
		if err != nil {
			said += err.Error()
		}
		if errors.Is(err, process.ErrUsage) != c.usage || !strings.Contains(said, c.says) {
			t.Errorf("%s: %v, printed %q", name, err, said)
		}
	}
}

func TestItServesUntilItIsTold(t *testing.T) {
	agent := httptest.NewServer(http.NotFoundHandler())
	defer agent.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "web.yaml")
	text := "agent_url: " + agent.URL + "\nport: " + port + "\ndata_dir: " + filepath.Join(dir, "data") +
		"\noauth2: {client_id: c, client_secret: '${SECRET}', issuer: 'http://127.0.0.1:1', redirect_url: 'http://127.0.0.1:" + port + "/callback', scopes: [openid]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), []string{"--config", file}, none, &buffer{}, &buffer{}); err == nil || !strings.Contains(err.Error(), "oauth2.client_secret: ${SECRET} is not set") {
		t.Errorf("without the secret: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	getenv := func(name string) string { return map[string]string{"SECRET": "s3cret"}[name] }
	var stdout, stderr buffer
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"--config", file}, getenv, &stdout, &stderr) }()
	for ; ctx.Err() == nil && !strings.Contains(stdout.String(), "web is up: http://127.0.0.1:"+port); time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
	}
	reply, err := http.Get("http://127.0.0.1:" + port + "/health")
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", reply, err)
	}
	reply.Body.Close()
	cancel()
	if err := <-ended; err != nil || strings.Contains(stdout.String()+stderr.String(), "s3cret") {
		t.Errorf("%v\n%s", err, stderr.String())
	}
	if info, err := os.Stat(filepath.Join(dir, "data", "credential.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
}
