package command

import (
	"context"
	"fmt"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Input is what a person has written in a chat.
type Input struct {
	Text string
	// ConversationID is the conversation that the chat is in, "" before its first message.
	ConversationID string
	// Shown are the UUIDs of the approvals that the chat shows.
	Shown []string
	// Approvable fails for an approval that must not be approved in this chat, because it does not
	// show it whole. nil: each may be.
	Approvable func(uuid string) error
	// Brief: the inbox has no arguments, because they must not be copied to where the chat is kept.
	Brief bool
	// By is who decides or cancels, for the record. What is proven of the caller counts more.
	By string
	// Key is the idempotency key of the request, or "".
	Key string
}

// Reply says what a chat does next.
type Reply struct {
	// Command is the name of the command, the last one of several, "" for a message alone.
	Command string `json:"command,omitempty"`
	// Text is the answer to the person, in lines of plain text.
	Text string `json:"text,omitempty"`
	// Message is to be sent, after Text was shown, in ConversationID: the text is no command, or
	// has more than commands.
	Message *Message `json:"message,omitempty"`
	// Model answers the next message and all later ones: the chat sends it with the next one.
	Model string `json:"model,omitempty"`
	// ConversationID is the conversation in which the chat goes on, "" for one that begins with
	// the next message.
	ConversationID string `json:"conversation_id"`

	unknown bool // there is no such command
}

// Message is a message to send.
type Message struct {
	Text string `json:"text"`
	// Model answers this message, "" for the model of the conversation.
	Model string `json:"model,omitempty"`
}

// Interpreter carries out commands. It is safe for concurrent use.
type Interpreter struct{ service *service.Service }

func New(s *service.Service) *Interpreter { return &Interpreter{s} }

// run is one command that is carried out.
type run struct {
	*Interpreter
	caller   service.Caller
	in       Input
	argument string
}

// command is an entry of the table.
type command struct {
	name, argument, help string
	// scope is what the caller needs, "" for nothing, as the route does that does the same. Who
	// may decide an approval is decided for each.
	scope string
	do    func(r run, ctx context.Context) (Reply, error)
}

// table has the commands in the order of the help.
func table() []command {
	return []command{
		{"help", "", "show the commands", "", run.help},
		{"new", "", "begin a new conversation", "", run.begin},
		{"list", "", "list the latest conversations", contract.ScopeRead, run.list},
		{"use", "ID", "go on with another conversation", contract.ScopeRead, run.use},
		{"tree", "", "show how the last turn goes, node by node", contract.ScopeRead, run.tree},
		{"inbox", "", "list what waits for a decision", contract.ScopeRead, run.inbox},
		{"approve", "[#ID] [REASON]", "approve the call that is shown, or another one", "", run.approve},
		{"reject", "[#ID] [REASON]", "reject it", "", run.reject},
		{"later", "[#ID] [TIME]", "not now, and not a no: put it off for yourself, for 2h or another time", "", run.later},
		{"cancel", "[REASON]", "stop the turn that runs", contract.ScopeConverse, run.cancel},
		{"model", "[NAME]", "choose the model of this conversation, or list the models", "", run.model},
		{"delete", "[force]", "delete this conversation, with force also while an approval waits", contract.ScopeConverse, run.remove},
	}
}

// one carries out a command.
func (i *Interpreter) one(ctx context.Context, caller service.Caller, in Input) (Reply, error) {
	p := parse(in.Text)
	r := run{i, caller, in, p.argument}
	for _, c := range table() {
		if c.name == p.command {
			return r.carryOut(ctx, c)
		}
	}
	return r.unknown(p.command), nil
}

func (r run) carryOut(ctx context.Context, c command) (Reply, error) {
	switch {
	case r.argument != "" && c.argument == "":
		return Reply{}, service.Errorf(contract.KindInvalid, "!%s takes nothing behind it; a message that begins with ! begins with !!", c.name)
	case c.scope != "" && r.caller.Authenticated() && !r.caller.Identity.May(c.scope):
		return Reply{}, service.Errorf(contract.KindForbidden, "this needs the scope %s", c.scope)
	}
	reply, err := c.do(r, ctx)
	reply.Command = c.name
	return reply, err
}

// says returns a reply of a command after which the chat is where it was.
func (r run) says(format string, args ...any) Reply {
	return Reply{ConversationID: r.in.ConversationID, Text: fmt.Sprintf(format, args...)}
}

func (r run) help(context.Context) (Reply, error) { return r.says("%s", helpText()), nil }

// unknown answers what is no command, which is not sent either.
func (r run) unknown(name string) Reply {
	reply := r.says("!%s is no command. It was not sent.\n\n%s", service.Printable(name), helpText())
	reply.Command, reply.unknown = "help", true
	return reply
}

func helpText() string {
	var b strings.Builder
	b.WriteString("Commands:\n")
	for _, c := range table() {
		fmt.Fprintf(&b, "  %-26s %s\n", strings.TrimSpace(mark+c.name+" "+c.argument), c.help)
	}
	b.WriteString("Where a rule lets arguments be changed, !approve #1a2b amount=400 approves with another value.\nIDs may be short, such as #1a2b. A message that begins with ! begins with !!.\nSeveral commands may be sent at once, each in a line of its own, and a message below them.")
	return b.String()
}

// inConversation fails before the first message of a chat.
func (r run) inConversation() error {
	if r.in.ConversationID == "" {
		return service.Errorf(contract.KindInvalid, "there is no conversation yet: write a message, or !use one of !list")
	}
	return nil
}

// request returns a request to the conversation of the chat.
func (r run) request(operation string) service.Request {
	id := r.in.ConversationID
	return service.Request{ConversationID: id, ID: r.caller.RequestID(id, operation, r.in.Key), Repeatable: r.in.Key != ""}
}
