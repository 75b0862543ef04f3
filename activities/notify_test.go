package activities_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
	"agent-stop-and-go/workflows/credential"
)

// hook is a webhook. It answers with the function's status, or with 200.
type hook struct {
	*httptest.Server
	calls []received
}

type received struct {
	http.Header
	method, uri, body string
}

func newHook(t *testing.T, answer http.HandlerFunc) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.calls = append(h.calls, received{r.Header, r.Method, r.RequestURI, string(body)})
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// taskReader is a TaskReader.
type taskReader func(id, protocol string) (json.RawMessage, error)

func (f taskReader) Task(_ context.Context, id, protocol string) (json.RawMessage, error) {
	return f(id, protocol)
}

func notifications(t *testing.T) *activities.Notifications {
	return &activities.Notifications{
		HTTP: activities.WebhookClient(network.ReachPrivate), Keyring: ring(t, "k1"), Now: func() time.Time { return noon },
		Tasks: taskReader(func(id, protocol string) (json.RawMessage, error) {
			return json.RawMessage(fmt.Sprintf(`{"task":%q,"protocol":%q}`, id, protocol)), nil
		}),
	}
}

func notification(url string, state contract.TaskState) contract.NotifyInput {
	return contract.NotifyInput{
		ID: "n-1", ConversationID: conversationID, Config: contract.PushConfig{ID: "a", URL: url},
		State: contract.PushState{State: state, Version: 3, ContextID: "c-1", At: noon.Add(time.Millisecond)},
	}
}

func sealedFor(t *testing.T, url, secret string) string {
	t.Helper()
	s, err := ring(t, "k1").Seal(contract.PushSeal(conversationID, url), credential.Token{Bearer: secret})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestANotificationCarriesWhatTheWebhookGaveForIt(t *testing.T) {
	h := newHook(t, status(204))
	in := notification(h.URL+"/hook?x=1", contract.TaskWorking)
	in.Config.Token, in.Config.Scheme, in.Config.Credentials = sealedFor(t, in.Config.URL, "t0ken"), "Bearer", sealedFor(t, in.Config.URL, canary)
	out, err := run(t, t.Context(), notifications(t).Notify, in)
	if err != nil || out != (contract.NotifyResult{Status: 204}) {
		t.Fatalf("%+v, %v", out, err)
	}
	got := h.calls[0]
	if got.method != "POST" || got.uri != "/hook?x=1" {
		t.Errorf("%s %s", got.method, got.uri)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/a2a+json", "A2A-Version": "1.0", "X-A2A-Notification-Token": "t0ken",
		"Authorization": "Bearer " + canary, "X-A2A-Notification-Id": "n-1", "X-A2A-Signature": signature("t0ken", got.body),
	} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, expected %q", name, got.Get(name), want)
		}
	}
	want := `{"statusUpdate":{"taskId":"` + conversationID + `","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-03-14T12:00:00.001Z"}}}`
	if got.body != want {
		t.Errorf("body %s\nexpected %s", got.body, want)
	}
}

// signature computes a signature as a receiver does.
func signature(key, body string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(fmt.Sprint(noon.Unix(), ".", body)))
	return fmt.Sprintf("t=%d,v1=%s", noon.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

func TestAWebhookWithoutSecretsIsSentNone(t *testing.T) {
	h := newHook(t, nil)
	in := notification(h.URL, contract.TaskWorking)
	in.Config.Scheme, in.State.ContextID = "Bearer", ""
	n := notifications(t)
	for _, key := range []string{"", "ours"} {
		n.SigningKey = []byte(key)
		if _, err := run(t, t.Context(), n.Notify, in); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Authorization", "X-A2A-Notification-Token", "X-A2A-Signature"} {
		if v, there := h.calls[0].Header[http.CanonicalHeaderKey(name)]; there {
			t.Errorf("%s: %q", name, v)
		}
	}
	if got := h.calls[1].Get("X-A2A-Signature"); got != signature("ours", h.calls[1].body) {
		t.Errorf("signed %q", got)
	}
	if !strings.Contains(h.calls[0].body, `"contextId":"`+conversationID+`"`) {
		t.Error(h.calls[0].body)
	}
}

func TestWhatIsSentDependsOnTheStateAndTheProtocol(t *testing.T) {
	task := `{"task":"` + conversationID + `","protocol":"%s"}`
	for _, c := range []struct {
		protocol, body, kind string
		state                contract.TaskState
	}{
		{"1.0", `TASK_STATE_SUBMITTED`, "application/a2a+json", contract.TaskSubmitted},
		{"1.0", `TASK_STATE_INPUT_REQUIRED`, "application/a2a+json", contract.TaskInputRequired},
		{"", `TASK_STATE_AUTH_REQUIRED`, "application/a2a+json", contract.TaskAuthRequired},
		{"", fmt.Sprintf(task, "1.0"), "application/a2a+json", contract.TaskCompleted},
		{"1.0", fmt.Sprintf(task, "1.0"), "application/a2a+json", contract.TaskCanceled},
		{"0.3", fmt.Sprintf(task, "0.3"), "application/json", contract.TaskWorking},
		{"0.3", fmt.Sprintf(task, "0.3"), "application/json", contract.TaskFailed},
	} {
		h := newHook(t, nil)
		in := notification(h.URL, c.state)
		in.Config.Protocol = c.protocol
		if _, err := run(t, t.Context(), notifications(t).Notify, in); err != nil {
			t.Fatal(err)
		}
		if got := h.calls[0]; !strings.Contains(got.body, c.body) || got.Get("Content-Type") != c.kind {
			t.Errorf("%s %s: %s, %s", c.protocol, c.state, got.Get("Content-Type"), got.body)
		}
	}
}

func TestWhatAWebhookAnswersDecidesWhetherItIsAskedAgain(t *testing.T) {
	for code, want := range map[int]struct {
		kind    contract.Kind
		retried bool
	}{
		400: {contract.KindPushRefused, false}, 401: {contract.KindPushRefused, false}, 404: {contract.KindPushRefused, false},
		408: {contract.KindPushUnavailable, true}, 429: {contract.KindPushUnavailable, true},
		500: {contract.KindPushUnavailable, true}, 503: {contract.KindPushUnavailable, true},
	} {
		h := newHook(t, status(code))
		_, err := run(t, t.Context(), notifications(t).Notify, notification(h.URL, contract.TaskWorking))
		failed(t, err, want.kind, want.retried, fmt.Sprint(code))
	}
	for code, gone := range map[int]bool{200: false, 202: false, 410: true} {
		h := newHook(t, status(code))
		out, err := run(t, t.Context(), notifications(t).Notify, notification(h.URL, contract.TaskWorking))
		if err != nil || out != (contract.NotifyResult{Status: code, Gone: gone}) {
			t.Errorf("%d: %+v, %v", code, out, err)
		}
	}
}

func failed(t *testing.T, err error, kind contract.Kind, retried bool, text string) {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != string(kind) || app.NonRetryable() == retried || !strings.Contains(app.Message(), text) {
		t.Errorf("%v; expected %s with %q, retried %v", err, kind, text, retried)
	}
	for _, secret := range []string{canary, "s3cret"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestAWebhookSaysWhenToComeAgain(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "86400": 2 * time.Minute, "soon": 0, "": 0, "-5": 0,
		noon.Add(time.Minute).Format(http.TimeFormat): time.Minute, noon.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		h := newHook(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(503)
		})
		_, err := run(t, t.Context(), notifications(t).Notify, notification(h.URL, contract.TaskWorking))
		failed(t, err, contract.KindPushUnavailable, true, "503")
		var app *temporal.ApplicationError
		if errors.As(err, &app) && app.NextRetryDelay() != want {
			t.Errorf("%q: again in %s, expected %s", value, app.NextRetryDelay(), want)
		}
	}
}

func TestRedirectsOfWebhooksAreNotFollowed(t *testing.T) {
	other := newHook(t, nil)
	for _, code := range []int{301, 302, 307, 308} {
		h := newHook(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) })
		_, err := run(t, t.Context(), notifications(t).Notify, notification(h.URL, contract.TaskWorking))
		failed(t, err, contract.KindPushRefused, false, "redirects are not followed")
	}
	if len(other.calls) > 0 {
		t.Error("a redirect was followed")
	}
}

func TestPrivateWebhooksAreNotCalled(t *testing.T) {
	h := newHook(t, nil)
	n := notifications(t)
	n.HTTP = activities.WebhookClient(network.ReachPublic)
	for _, url := range []string{h.URL + "/?key=s3cret", strings.Replace(h.URL, "127.0.0.1", "localhost", 1)} {
		_, err := run(t, t.Context(), n.Notify, notification(url, contract.TaskWorking))
		failed(t, err, contract.KindPushRefused, false, "not public")
	}
	if len(h.calls) > 0 {
		t.Error("it was called")
	}
}

func TestAWebhookThatIsNotThereIsTriedAgain(t *testing.T) {
	h := newHook(t, nil)
	h.Close()
	_, err := run(t, t.Context(), notifications(t).Notify, notification(h.URL+"/?key=s3cret", contract.TaskWorking))
	failed(t, err, contract.KindPushUnavailable, true, "not reached")
}

func TestAWebhookThatIsSilentIsTriedAgain(t *testing.T) {
	end := make(chan struct{})
	h := newHook(t, func(http.ResponseWriter, *http.Request) { <-end })
	t.Cleanup(func() { close(end) })
	n := notifications(t)
	if n.HTTP.Timeout != 10*time.Second {
		t.Errorf("a webhook is given %s", n.HTTP.Timeout)
	}
	n.HTTP.Timeout = 10 * time.Millisecond
	_, err := run(t, t.Context(), n.Notify, notification(h.URL+"/?key=s3cret", contract.TaskWorking))
	failed(t, err, contract.KindPushUnavailable, true, "no answer in time")
}

func TestSecretsThatCannotBeOpenedAreNotSent(t *testing.T) {
	h := newHook(t, nil)
	with := func(sealed string) contract.NotifyInput {
		in := notification(h.URL, contract.TaskWorking)
		in.Config.Token = sealed
		return in
	}
	n := notifications(t)
	_, err := run(t, t.Context(), n.Notify, with(sealedFor(t, "https://other", "x")))
	failed(t, err, contract.KindPushRefused, false, "cannot be opened")
	bearer, _ := ring(t, "k1").Seal(conversationID, credential.NewToken(canary)) // the token of a caller
	_, err = run(t, t.Context(), n.Notify, with(bearer))
	failed(t, err, contract.KindPushRefused, false, "cannot be opened")
	n.Keyring = ring(t, "other")
	_, err = run(t, t.Context(), n.Notify, with(sealedFor(t, h.URL, "x")))
	failed(t, err, contract.KindPushUnavailable, true, "not configured here")
	n.Keyring = nil
	_, err = run(t, t.Context(), n.Notify, with(sealedFor(t, h.URL, "x")))
	failed(t, err, contract.KindPushUnavailable, true, "no keys")
	if len(h.calls) > 0 {
		t.Error("it was called")
	}
}

func TestATaskThatCannotBeReadIsReadAgain(t *testing.T) {
	h := newHook(t, nil)
	n := notifications(t)
	n.Tasks = taskReader(func(string, string) (json.RawMessage, error) { return nil, errStore })
	_, err := run(t, t.Context(), n.Notify, notification(h.URL, contract.TaskCompleted))
	failed(t, err, contract.KindPushUnavailable, true, errStore.Error())
	n.Tasks = nil
	_, err = run(t, t.Context(), n.Notify, notification(h.URL, contract.TaskCompleted))
	failed(t, err, contract.KindInternal, true, "nothing to read tasks with")
	if len(h.calls) > 0 {
		t.Error("it was called")
	}
}

func TestAURLThatIsNoneIsRefused(t *testing.T) {
	_, err := run(t, t.Context(), notifications(t).Notify, notification("https://exa mple/?s3cret", contract.TaskWorking))
	failed(t, err, contract.KindPushRefused, false, "malformed")
}
