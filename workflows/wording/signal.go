package wording

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
)

// Texts of signals and updates that are invalid, or too many.
const (
	TextEmptyMessage  = `a message signal without text was ignored; send {"text":"…"} or "…"`
	TextWebhookNoID   = "the webhook has no id"
	TextWebhookScheme = "the url must begin with http:// or https://"
	TextTooManyAwaits = "too many wait for an answer: read it with the query instead"
	TextAwaitEmptyID  = "request_ids: an id is empty"
	TextDecided       = "the approval was decided already"
	TextUnproven      = "the identity is not proven: a signal that you type has none, so leave it out"
	TextNotApprover   = "the approval is for others to decide"
	TextSchemaStored  = "the schema of the answer is too large for an update; send it as a signal"
)

// UnreadMessage returns the error of an unreadable message signal.
func UnreadMessage(err error) error {
	return fmt.Errorf(`a message signal was not understood (%w); send {"text":"…"} or "…"`, err)
}

// UnreadAnswer returns the problem that an answer could not be compared with its schema.
func UnreadAnswer(f Failure) string {
	return fmt.Sprintf("the answer could not be read (%s); send it again", f.Message)
}

// AwaitIDs returns the error of an update that waits for no request or for too many.
func AwaitIDs(most int) string {
	return fmt.Sprintf("request_ids: between 1 and %d request ids are needed", most)
}

// SignalIgnored returns the problem of a Push after an invalid signal.
func SignalIgnored(err error) string { return "a signal was ignored: " + err.Error() }

// TooManyWebhooks refuses one more webhook of a task.
func TooManyWebhooks() string {
	return fmt.Sprintf("a task notifies at most %d webhooks", contract.MaxPushConfigs)
}

// LongWebhookURL refuses a webhook.
func LongWebhookURL() string {
	return fmt.Sprintf("the url has more than %d bytes", network.MaxWebhookURL)
}
