package responses

import (
	"strings"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	prefixResponse     = "resp_"
	prefixConversation = "conv_"
	prefixApproval     = "mcpr_"
	prefixCompaction   = "cmp_"
)

func compact(uuid string) string { return strings.ReplaceAll(uuid, "-", "") }

// The form of a response, at the end of its ID: how its approvals and its text are shown.
const (
	formApprovals = "m" // approvals are items
	formAnswer    = "j" // the text is the last answer alone
	formUnstored  = "n" // it is not to be found by its ID
	formWhole     = "w" // it fails if the model does not see the whole conversation
)

// responseID returns the ID of the response to a request.
func responseID(q service.Request, form string) string {
	return prefixResponse + compact(q.ConversationID) + compact(q.ID) + form
}

// parseResponse returns the request whose response has an ID, and its form.
func parseResponse(id string) (q service.Request, form string, err error) {
	hex, ok := strings.CutPrefix(id, prefixResponse)
	if ok && len(hex) >= 64 && strings.Trim(hex[64:], formApprovals+formAnswer+formUnstored+formWhole) == "" && len(hex) <= 68 {
		conversation, isID := openai.UUID(hex[:32])
		request, isRequest := openai.UUID(hex[32:64])
		if isID && isRequest {
			return service.Request{ConversationID: conversation, ID: request, Repeatable: true, MayBeCompleted: true}, hex[64:], nil
		}
	}
	return service.Request{}, "", noResponse(id)
}

func noResponse(id string) error {
	return service.Errorf(contract.KindNotFound, "no response with the id %s", service.Printable(id))
}

// previousMissing marks the error for a previous_response_id with which nothing goes on.
func previousMissing(err error) error {
	if !service.IsKind(err, contract.KindNotFound) {
		return err
	}
	return &openai.Fault{Code: "previous_response_not_found", Param: "previous_response_id", Err: err}
}

// conversationOf returns the UUID of a conversation that a client names.
func conversationOf(name string) (string, error) {
	id := strings.TrimPrefix(name, prefixConversation)
	if uuid, ok := openai.UUID(id); ok {
		return uuid, nil
	}
	if contract.IsUUID(id) {
		return id, nil
	}
	return "", service.NoConversation(name)
}

// itemID returns the ID of an item of a response. It has the response in it, because clients refer to
// items of stored responses instead of repeating them.
func itemID(kind, response, end string) string {
	return kind + "_" + strings.TrimPrefix(response, prefixResponse) + end
}

// responseOfItem returns the request whose response has an item.
func responseOfItem(id string) (service.Request, bool) {
	_, rest, _ := strings.Cut(id, "_")
	if len(rest) < 64 {
		return service.Request{}, false
	}
	q, _, err := parseResponse(prefixResponse + rest[:64])
	return q, err == nil
}
