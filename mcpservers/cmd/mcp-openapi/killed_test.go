package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/mcpservers/hosting/programtest"
)

const orders = `{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{"/orders":{"post":{"operationId":"order","summary":"Order","responses":{"200":{"description":"Done"}}}}}}`

// A change whose server is killed has reached the API once, and there is no answer: the server says nothing
// about repeated calls, so an agent reports the call as unknown and does not make it again.
func TestACallOfAKilledServerReachedTheAPIOnceAndHasNoAnswer(t *testing.T) {
	var calls atomic.Int32
	arrived, end := make(chan struct{}, 10), make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		arrived <- struct{}{}
		<-end
	}))
	defer api.Close()
	defer close(end)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "orders.json"), []byte(orders), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--api", "orders.json", "--base-url", api.URL}
	server := programtest.Serve(t, dir, args...)
	answered := make(chan error, 1)
	go func() {
		_, err := server.Call(t.Context(), "order", "key", map[string]any{})
		answered <- err
	}()
	select {
	case <-arrived:
	case err := <-answered:
		t.Fatal("it ended before it arrived: ", err)
	}
	server.Kill()
	if err := <-answered; err == nil {
		t.Error("a killed server answered")
	}
	if again := programtest.Serve(t, dir, args...); again.Deduplicates {
		t.Error("the server says that it recognises a call of before, and keeps nothing of it")
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("the API was called %d times", n)
	}
}
