package card

import "github.com/slack-go/slack"

// MaxReply is how many bytes of mrkdwn one message of a reply has.
const MaxReply = 2900

// Reply returns a piece of what the agent says, in mrkdwn. While a turn runs in a conversation, status
// says what it does and there is a stop button.
func Reply(text, status, conversation string) Message {
	var blocks []slack.Block
	if text != "" {
		blocks = append(blocks, section(text))
	}
	if status != "" {
		blocks = append(blocks, contextOf("_"+quoted(status, 1000)+"_"))
	}
	if conversation != "" {
		blocks = append(blocks, slack.NewActionBlock("turn", button(Stop, conversation, "Stop")))
	}
	if text == "" {
		text = quoted(status, 1000)
	}
	return Message{Text: text, Blocks: blocks}
}

// CallbackReject is the callback of the dialog of Reject. Its private metadata is the UUID.
const CallbackReject = "agent_reject_reason"

// The input of the dialog.
const (
	ReasonBlock  = "reason"
	ReasonAction = "text"
)

// Dialog asks why a call is rejected.
func Dialog(uuid, place string) slack.ModalViewRequest {
	plain := func(text string) *slack.TextBlockObject {
		return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
	}
	input := slack.NewPlainTextInputBlockElement(plain("The agent and the record get it"), ReasonAction)
	input.Multiline, input.MaxLength = true, 1500
	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: CallbackReject, PrivateMetadata: uuid + " " + place,
		Title: plain("Reject the call"), Submit: plain("Reject"), Close: plain("Back"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewInputBlock(ReasonBlock, plain("Why?"), nil, input).WithOptional(true)}},
	}
}
