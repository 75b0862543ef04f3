package agentapi

import (
	"encoding/json"
	"net/http"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// The texts that clients know.
const (
	textNoSession = "session not found"
	textNoGate    = "unknown gate"
)

func invalid(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, format, args...)
}

func noSession() error { return service.Errorf(contract.KindNotFound, textNoSession) }

// read reads a body. Members that it does not know are ignored, as clients expect. Those that decide must not be there
// twice.
func read(r *http.Request, v any, once ...string) error {
	data, err := request.Body(r)
	if err != nil {
		if service.IsKind(err, contract.KindInvalid) {
			return invalid(textNoJSON)
		}
		return err
	}
	if len(data) == 0 || !json.Valid(data) {
		return invalid(textNoJSON)
	}
	if twice := request.Duplicate(data, once...); twice != "" {
		return invalid("'%s' is there twice; nothing was decided", twice)
	}
	return request.Decode(data, v)
}

// textNoJSON is the error of a body that is no JSON.
const textNoJSON = "Invalid JSON"

// ErrorBody returns the body of an error in the form that the clients of a channel expect.
func ErrorBody(channel, text string) map[string]string {
	body := map[string]string{"error": text}
	if channel == ChannelShell && text == textNoJSON {
		body["status"] = "error"
	}
	return body
}

// isGone reports whether a conversation takes no more messages because it has ended.
func isGone(err error) bool {
	return service.IsKind(err, contract.KindNotFound) || service.IsKind(err, contract.KindCompleted) || service.IsKind(err, deletion.KindDeleted)
}
