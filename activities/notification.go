package activities

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
)

// Headers of a notification.
const (
	HeaderToken        = "X-A2A-Notification-Token" //nolint:gosec // a name
	HeaderNotification = "X-A2A-Notification-Id"
	HeaderSignature    = "X-A2A-Signature"
	headerVersion      = "A2A-Version"
)

// webhookTimeout is how long a webhook may take to answer (A2A 1.0 §4.3.3).
const webhookTimeout = 10 * time.Second

// WebhookClient is the HTTP client for webhooks. It follows no redirects, uses no proxy, and
// only connects within reach.
func WebhookClient(reach network.Reach) *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.Proxy = nil // a proxy would dial any address for us
	base.MaxIdleConnsPerHost, base.IdleConnTimeout, base.MaxResponseHeaderBytes = 2, time.Minute, 64<<10
	c := outbound.Client(outbound.Options{Reach: reach, DialTimeout: webhookTimeout, Base: base})
	c.Timeout = webhookTimeout
	return c
}

// notificationHeaders are the headers of a notification without the signature. Empty ones are
// not sent.
func notificationHeaders(in contract.NotifyInput) map[string]string {
	h := map[string]string{
		"Content-Type": "application/a2a+json", headerVersion: in.Config.Protocol,
		HeaderNotification: in.ID, HeaderToken: in.Config.Token,
	}
	if in.Config.Protocol == contract.PushProtocol03 {
		h["Content-Type"] = "application/json"
	}
	if in.Config.Scheme != "" && in.Config.Credentials != "" {
		h["Authorization"] = in.Config.Scheme + " " + in.Config.Credentials
	}
	return h
}

// sign returns a signature: the time and an HMAC of time and body, so that an old notification
// cannot be replayed.
func sign(key []byte, now time.Time, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%d.%s", now.Unix(), body)
	return fmt.Sprintf("t=%d,v1=%s", now.Unix(), hex.EncodeToString(mac.Sum(nil)))
}

// statusUpdate returns a state as a StreamResponse (A2A 1.0 §3.2.3).
func statusUpdate(conversationID string, n contract.PushState) []byte {
	type status struct {
		State     string `json:"state"`
		Timestamp string `json:"timestamp"`
	}
	type update struct {
		TaskID    string `json:"taskId"`
		ContextID string `json:"contextId"`
		Status    status `json:"status"`
	}
	body, _ := json.Marshal(map[string]update{"statusUpdate": { // strings only: it cannot fail
		TaskID: conversationID, ContextID: cmp.Or(n.ContextID, conversationID),
		Status: status{State: protoState(n.State), Timestamp: n.At.UTC().Format("2006-01-02T15:04:05.000Z")},
	}})
	return body
}

// protoState is a state in the spelling of A2A 1.0.
func protoState(s contract.TaskState) string {
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}
