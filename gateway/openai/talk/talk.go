package talk

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// Talk carries out requests. It is safe for concurrent use.
type Talk struct {
	Exchanges *exchange.Exchanges
	Finder    *history.Finder
	Models    offers.Models
	Desk      openai.Desk
	Now       func() time.Time
}

// For returns the same, of another API, which marks its decisions.
func (t *Talk) For(via string) *Talk {
	other := *t
	other.Desk.Via = via
	return &other
}

// Input is what a client sends.
type Input struct {
	Target offers.Target
	// Tools are executed by the client. Schema is the form of the answer, or nil.
	Tools      []contract.Tool
	ToolChoice toolchoice.Choice
	Schema     json.RawMessage
	// Past is the chat before the message, and Context what the client says as system.
	Past    history.Chat
	Context string
	Message openai.Attached
	// Results are those of calls, and Answers those to approvals, before the message if there is
	// one too.
	Results []Result
	Answers []Answer
	// Conversation is the UUID of the conversation that the client has named, or "". Fork: the
	// message begins a new one, with Past as context.
	Conversation string
	Fork         bool
	// Live streams the reply.
	Live bool
	// Echo is kept with the message, or with the last decision if there is no message.
	Echo json.RawMessage
}

// Result is the result of a call that the client has executed. Without the ID of the call it is that
// of the first call of the tool that waits in the chat.
type Result struct{ CallID, Tool, Text string }

// Answer is a decision about an approval.
type Answer struct {
	UUID    string
	Approve bool
	Reason  string
}

// Add adds a message of a role. isNew: it is what the client sends now. Decisions by code are no part
// of the chat.
func (in *Input) Add(role string, content openai.Attached, isNew bool) {
	switch {
	case role == "system" || role == "developer":
		if content.Text != "" {
			in.Context += "[context] The client says: " + content.Text + "\n"
		}
	case isNew:
		if in.Message.Text != "" && content.Text != "" {
			in.Message.Text += "\n\n"
		}
		in.Message.Text += content.Text
		in.Message.Files = append(in.Message.Files, content.Files...)
	case role == "user" && isCommand(content.Text):
	default:
		in.Past.Append(role == "user", content.Text)
	}
}

// New returns the index of the first of n messages that is new: the messages of the user at the end, and
// the results of calls directly before them.
func New(n int, role func(int) string) int {
	for n > 0 && role(n-1) == "user" {
		n--
	}
	for n > 0 && role(n-1) == "tool" {
		n--
	}
	return n
}

// maxMessages bounds the messages or items of a request.
const maxMessages = 10_000

// CheckLength refuses more messages or items than a request may have.
func CheckLength(member string, n int) error {
	if n > maxMessages {
		return service.Errorf(contract.KindTooLarge, "%s: %d are too many: the limit is %d", member, n, maxMessages)
	}
	return nil
}

func isCommand(text string) bool {
	_, ok := passcode.Parse(text)
	return ok
}

// Answered returns the UUIDs of the calls and approvals to which results and answers belong, first those of results.
func (in Input) Answered() (uuids []string) {
	for _, r := range in.Results {
		if uuid, ok := openai.ApprovalOfCall(r.CallID); ok {
			uuids = append(uuids, uuid)
		}
	}
	for _, a := range in.Answers {
		uuids = append(uuids, a.UUID)
	}
	return uuids
}

// Says reports whether there is a message.
func (in Input) Says() bool { return in.Message.Text != "" || len(in.Message.Files) > 0 }

// Run is a request that is carried out.
type Run struct {
	*Talk
	// Notice is what the gateway says instead of sending a message, "" if it was sent.
	Notice string
	// Done is the context of the client: it ends when the client is gone.
	Done context.Context

	in      Input
	command *passcode.Command // the message is a decision by code, nil if not
	http    *http.Request
	header  http.Header
	caller  service.Caller // without its API key as the token for tools
	query   history.Query
}

// Begin takes a request. header is that of the reply.
func (t *Talk) Begin(r *http.Request, header http.Header, in Input) (*Run, error) {
	call := request.From(r.Context())
	space, err := openai.Space(r, in.Target)
	if err != nil {
		return nil, err
	}
	key, again, err := openai.Key(r)
	if err != nil {
		return nil, err
	}
	run := &Run{
		Talk: t, Done: call.Client, in: in, http: r, header: header, caller: openai.WithoutKey(call.Caller, r),
		query: history.Query{Caller: call.Caller, Space: space, Past: in.Past, Text: in.Message.Text, Key: key, Again: again},
	}
	if command, ok := passcode.Parse(in.Message.Text); ok {
		run.command = &command
	}
	return run, nil
}

// about says which conversation the request is about, in the log and in the reply.
func (r *Run) about(id string) {
	request.From(r.http.Context()).ConversationID = id
	r.header.Set(openai.HeaderConversation, id)
}

// Remember notes the chat that the client has after a reply.
func (r *Run) Remember(reply exchange.Reply, text string) {
	if reply.State == nil {
		return
	}
	past := r.query.Past
	if r.in.Says() {
		past = past.Add(true, r.query.Text)
	}
	r.Finder.Remember(r.query, past.Add(false, text), reply.State.View.ID)
}
