package openai

import (
	"net"
	"net/http"
	"strings"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Headers of requests and replies.
const (
	// HeaderConversation names the conversation: a UUID is that of a conversation, any other text
	// the client's own ID of a chat. Replies have the UUID.
	HeaderConversation = "X-Conversation-ID"
	headerRetry        = "X-Stainless-Retry-Count"
	maxHeader          = 255
)

// chatHeaders name the chat in known clients: those that Open WebUI sends if it is set to
// (backend/open_webui/routers/openai.py, ENABLE_FORWARD_USER_INFO_HEADERS).
var chatHeaders = []string{"X-OpenWebUI-Chat-Id"}

// personHeaders name the person that a client asks for with a key of its own. They prove nothing;
// they only keep the chats of several people apart.
var personHeaders = []string{"X-OpenWebUI-User-Id"}

// Conversation returns the UUID of the conversation that a request names, or "".
func Conversation(r *http.Request) string {
	if id := strings.ToLower(r.Header.Get(HeaderConversation)); contract.IsUUID(id) {
		return id
	}
	return ""
}

// Space returns what keeps the chats of a request apart from others of the same caller: the node
// that is asked, the person, and the client's ID of the chat.
func Space(r *http.Request, t offers.Target) (string, error) {
	parts := []string{t.Node}
	for _, name := range append([]string{HeaderConversation}, append(chatHeaders, personHeaders...)...) {
		value := r.Header.Get(name)
		if len(value) > maxHeader {
			return "", service.Errorf(contract.KindInvalid, "%s: expected %d bytes at most", name, maxHeader)
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, "\n"), nil
}

// Key returns the idempotency key of a request, or "", and whether the client says that it sends it
// again.
func Key(r *http.Request) (key string, again bool, err error) {
	key, err = request.IdempotencyKey(r)
	count := r.Header.Get(headerRetry)
	return key, count != "" && count != "0", err
}

// Person returns who decides with a code: the caller and, if it has a key of its own for several
// people, which of them it says it is.
func Person(c service.Caller, r *http.Request) string {
	person := history.Owner(c)
	for _, name := range personHeaders {
		person += "\n" + r.Header.Get(name)
	}
	return person
}

// WithoutKey returns a caller without its API key as the token for tools. Clients of OpenAI's API
// always send a key, and without authentication it is often anything.
func WithoutKey(c service.Caller, r *http.Request) service.Caller {
	if !c.Authenticated() {
		c.Token = request.ToolToken(r)
	}
	return c
}

// local reports whether a request comes from this machine, and not through a proxy.
func local(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
