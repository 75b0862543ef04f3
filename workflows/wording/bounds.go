package wording

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
)

// Texts of requests that exceed a bound.
var (
	TextQueueFull   = fmt.Sprintf("Too many messages wait: at most %d may be queued in a conversation. Try again when some are answered.", contract.MaxQueued)
	TextTooMany     = fmt.Sprintf("Too many requests are open: a conversation may have %d besides queued messages. Try again when some are answered.", contract.MaxOpenRequests)
	TextCatchUp     = "The conversation answers the messages that are queued before it takes more. Try again when they are answered."
	TextLongToken   = fmt.Sprintf("The sealed token is too long: at most %d bytes are taken.", contract.MaxSealed)
	TextQueueLong   = fmt.Sprintf("Too much waits: at most %d bytes of messages may be queued in a conversation. Try again when some are answered.", contract.MaxQueuedBytes)
	TextLongMessage = fmt.Sprintf("The message takes too much room: at most %d bytes besides its text and the content of its files.", contract.MaxMessage)
	TextManyFiles   = fmt.Sprintf("The message has too many files: at most %d are taken.", contract.MaxParts)
)

// OverrunFailure returns the reply if a model repeatedly asks for too much.
func OverrunFailure(problem string) string {
	return modelFailed + "the model's reply was not carried out: " + problem + "."
}

// OverrunRepairNotice returns the notice that a model is called again for a reply within
// bounds.
func OverrunRepairNotice(problem string) string {
	return "The model's reply was not carried out: " + problem + ". Asking once more."
}
