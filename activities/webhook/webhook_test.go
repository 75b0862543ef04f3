package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/webhook"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/contract/network"
)

const (
	oldSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	newSecret = "whsec_YWJjZGVmZ2hpamFiY2RlZmdoaWphYmNkZWZnaGlqYWI="
)

func input() hooks.SendInput {
	return hooks.SendInput{Hook: "${URL}", Input: hooks.Input{ID: "msg_1", Message: hooks.Message{
		Type: hooks.Opened, Timestamp: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Data: hooks.Approval{UUID: "u-1", ConversationID: "c-1", Tool: "resources_add"},
	}}}
}

func hooksTo(url string, reach network.Reach) *webhook.Hooks {
	return &webhook.Hooks{
		Hooks: []webhook.Hook{{Name: "${URL}", URL: url, Secrets: []string{newSecret, oldSecret}, HTTP: activities.WebhookClient(reach)}},
		Now:   time.Now, PublicURL: "https://agent.example.com",
	}
}

// Both sides of a rotation accept a message, and the library of Standard Webhooks verifies it.
func TestAMessageIsSignedWithEverySecret(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests++
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for _, secret := range []string{oldSecret, newSecret} {
			receiver, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := receiver.Verify(body, r.Header); err != nil {
				t.Errorf("%s: %v", secret, err)
			}
			if receiver.Verify(append(body, ' '), r.Header) == nil {
				t.Error("another body is accepted")
			}
		}
		var m hooks.Message
		if err := json.Unmarshal(body, &m); err != nil || m.Data.URL != "https://agent.example.com/#/a/u-1" || m.Type != hooks.Opened {
			t.Errorf("%s, %v", body, err)
		}
		if r.Header.Get("Webhook-Id") != "msg_1" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v", r.Header)
		}
	}))
	defer server.Close()
	if out, err := hooksTo(server.URL, network.ReachLoopback).Send(t.Context(), input()); err != nil || out.Status != 200 || requests != 1 {
		t.Errorf("%+v, %v, %d requests", out, err, requests)
	}
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	for status, again := range map[int]bool{500: true, 503: true, 429: true, 401: true, 404: true, 302: true, 410: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7200")
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
		}))
		_, err := hooksTo(server.URL, network.ReachLoopback).Send(t.Context(), input())
		server.Close()
		failed := failure(t, err)
		if failed.NonRetryable() == again || !strings.Contains(failed.Message(), "answered") || again && failed.NextRetryDelay() != time.Hour {
			t.Errorf("%d: %v, again after %s", status, err, failed.NextRetryDelay())
		}
	}
	if failed := failure(t, second(hooksTo("http://127.0.0.1:1/secret", network.ReachLoopback).Send(t.Context(), input()))); failed.NonRetryable() || strings.Contains(failed.Error(), "secret") {
		t.Errorf("one that does not listen: %v", failed)
	}
}

func TestWhatIsNotAllowedIsNotCalled(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("called") }))
	defer server.Close()
	if failed := failure(t, second(hooksTo(server.URL, network.ReachPublic).Send(t.Context(), input()))); !failed.NonRetryable() || !strings.Contains(failed.Message(), "not public") {
		t.Errorf("a private address: %v", failed)
	}
	in := input()
	in.Hook = "https://other.example.com"
	if failed := failure(t, second(hooksTo(server.URL, network.ReachLoopback).Send(t.Context(), in))); !failed.NonRetryable() || !strings.Contains(failed.Message(), "not configured any more") {
		t.Errorf("one that was removed: %v", failed)
	}
}

func TestAWebHookGetsTheEventsThatItWants(t *testing.T) {
	h := &webhook.Hooks{Hooks: []webhook.Hook{{Name: "all"}, {Name: "some", Events: []hooks.Event{hooks.Decided, hooks.Expired}}}}
	for event, want := range map[hooks.Event][]string{hooks.Opened: {"all"}, hooks.Expired: {"all", "some"}} {
		if out, err := h.Select(context.Background(), hooks.SelectInput{Event: event}); err != nil || !slices.Equal(out.Hooks, want) {
			t.Errorf("%s: %v, %v", event, out, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func failure(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("%v", err)
	}
	if kind := contract.Kind(app.Type()); kind != contract.KindPushUnavailable && kind != contract.KindPushRefused {
		t.Errorf("%s", kind)
	}
	return app
}
