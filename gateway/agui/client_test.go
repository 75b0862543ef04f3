package agui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// client implements the rules of the protocol: it refuses events out of order and keeps the
// messages that the events make up.
type client struct {
	messages []Message
	state    map[string]any
	lastID   string
	custom   map[string]int // number of custom events by the id in their value

	run, last string // the open run; how the last one ended
	runs      []string
	open      map[string]bool // "kind id"
	outcome   Outcome
	pendings  []string // calls started in the run
	answered  []string // calls answered in the run
	log       []json.RawMessage

	// legacy makes it a client older than 1.0. Such a client makes the calls of its own tools
	// that have no result at the end of a run.
	legacy *Legacy
	due    []string // the calls that it has to make
}

// ownTool is the tool that the older client makes the calls of.
const ownTool = "list"

func newClient() *client {
	return &client{custom: map[string]int{}, open: map[string]bool{}}
}

// reconnect begins another stream.
func (c *client) reconnect() {
	c.run, c.last, c.open, c.runs, c.log = "", "", map[string]bool{}, nil, nil
	if c.legacy != nil {
		held := c.messages
		c.legacy = NewLegacy(func(call, tool string) bool { return tool == ownTool && !holdsCall(held, call) })
	}
}

func holdsCall(messages []Message, call string) bool {
	return slices.ContainsFunc(messages, func(m Message) bool {
		return slices.ContainsFunc(m.ToolCalls, func(t ToolCall) bool { return t.ID == call })
	})
}

// wire has the members of all events.
type wire struct {
	Type            Type
	ThreadID        string
	RunID           string
	ProtocolVersion string
	MessageID       *string
	ToolCallID      *string
	ToolCallName    *string
	ParentMessageID string
	StepName        string
	Role, Name      string
	Delta           json.RawMessage
	Content         *string
	Messages        []Message
	Metadata        Metadata
	Outcome         *Outcome
	Snapshot        map[string]any
	Value           map[string]any
	Message         string
}

func (c *client) take(events []Event) error {
	if c.legacy == nil {
		return c.takeAll(events)
	}
	for n, e := range events {
		if err := c.takeAll(c.legacy.Rewrite(events[n : n+1])); err != nil {
			return err
		}
		if d, ok := e.Data.(RunFinished); ok {
			c.due = append(c.due, d.Outcome.calls...)
			if err := c.makesOnly(); err != nil {
				return fmt.Errorf("%+v: %w", d, err)
			}
		}
	}
	return nil
}

func (c *client) takeAll(events []Event) error {
	for _, e := range events {
		data, err := json.Marshal(e.Data)
		if err != nil {
			return err
		}
		c.log = append(c.log, data)
		var w wire
		if err := json.Unmarshal(data, &w); err != nil {
			return err
		}
		if e.ID != "" {
			c.lastID = e.ID
		}
		if err := c.verify(w); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
		if err := c.apply(w); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
	}
	return nil
}

var openers = map[Type][2]string{
	TypeTextStart: {"text", "open"}, TypeTextContent: {"text", "on"}, TypeTextEnd: {"text", "close"},
	TypeCallStart: {"call", "open"}, TypeCallArgs: {"call", "on"}, TypeCallEnd: {"call", "close"},
	TypeReasoningStart: {"span", "open"}, TypeReasoningEnd: {"span", "close"},
	TypeThoughtStart: {"thought", "open"}, TypeThoughtContent: {"thought", "on"}, TypeThoughtEnd: {"thought", "close"},
	TypeStepStarted: {"step", "open"}, TypeStepFinished: {"step", "close"},
}

func (c *client) verify(w wire) error {
	switch {
	case w.Type == TypeRunError && c.last != "error":
		c.run, c.last, c.open = "", "error", map[string]bool{}
		return nil
	case w.Type == TypeRunStarted:
		if c.run != "" || w.RunID == "" || w.ThreadID == "" || w.ProtocolVersion != c.version() || slices.Contains(c.runs, w.RunID) {
			return fmt.Errorf("a run must not start here: %v", c.runs)
		}
		c.run, c.pendings, c.answered = w.RunID, nil, nil
		c.runs = append(c.runs, w.RunID)
		return nil
	case c.run == "":
		return fmt.Errorf("no run is open")
	case w.Type == TypeRunFinished:
		if len(c.open) > 0 || w.RunID != c.run {
			return fmt.Errorf("still open: %v", slices.Sorted(maps.Keys(c.open)))
		}
		c.run, c.last = "", "finished"
		if c.legacy != nil {
			return c.finishedOlder(w.Outcome)
		}
		return c.finished(*w.Outcome)
	}
	rule, ok := openers[w.Type]
	if !ok {
		return nil
	}
	key := rule[0] + " "
	switch {
	case rule[0] == "step":
		key += w.StepName
	case rule[0] == "call" && w.ToolCallID != nil:
		key += *w.ToolCallID
	case w.MessageID != nil:
		key += *w.MessageID
	default:
		return fmt.Errorf("no id")
	}
	if c.open[key] == (rule[1] == "open") {
		return fmt.Errorf("%s is open: %v", key, c.open[key])
	}
	switch rule[1] {
	case "open":
		c.open[key] = true
	case "close":
		delete(c.open, key)
	}
	return nil
}

func (c *client) version() string {
	if c.legacy != nil {
		return ""
	}
	return ProtocolVersion
}

// finishedOlder checks an outcome by the rules of 0.0.59.
func (c *client) finishedOlder(o *Outcome) error {
	switch {
	case o == nil || o.Type == OutcomeSuccess && len(o.Interrupts) == 0 && o.PendingToolCallIDs == nil:
		return nil
	case o.Type == OutcomeInterrupt && len(o.Interrupts) > 0 && o.PendingToolCallIDs == nil:
		for _, i := range o.Interrupts {
			if n, _ := c.findCall(i.ToolCallID); i.ToolCallID != "" && n < 0 {
				return fmt.Errorf("an interrupt is about the call %s, which is not there", i.ToolCallID)
			}
		}
		return nil
	}
	return fmt.Errorf("0.0.59 does not know the outcome %+v", o)
}

// makesOnly checks that an older client has made exactly the calls that it has to make.
func (c *client) makesOnly() error {
	for _, m := range c.messages {
		for _, t := range m.ToolCalls {
			answered := slices.ContainsFunc(c.messages, func(o Message) bool { return o.ToolCallID == t.ID })
			if makes := t.Function.Name == ownTool && !answered; makes && !slices.Contains(c.due, t.ID) {
				return fmt.Errorf("the client makes the call %s", t.ID)
			}
		}
	}
	for _, id := range c.due {
		if n, _ := c.findCall(id); n < 0 {
			return fmt.Errorf("the client does not see the call %s", id)
		}
	}
	return nil
}

// finished checks which calls the client would make.
func (c *client) finished(o Outcome) error {
	left := slices.DeleteFunc(slices.Clone(c.pendings), func(id string) bool { return slices.Contains(c.answered, id) })
	switch {
	case (o.Type == OutcomeInterrupt) != (len(o.Interrupts) > 0):
		return fmt.Errorf("%d interrupts", len(o.Interrupts))
	case o.Type == OutcomeSuccess && len(o.PendingToolCallIDs) == 0 && len(left) > 0:
		return fmt.Errorf("calls are left open: %v", left)
	}
	for _, id := range o.PendingToolCallIDs {
		if n, _ := c.findCall(id); n < 0 {
			return fmt.Errorf("no such call: %s", id)
		}
	}
	return nil
}

func (c *client) find(id string) int {
	return slices.IndexFunc(c.messages, func(m Message) bool { return m.ID == id })
}

func (c *client) findCall(id string) (int, int) {
	for n, m := range c.messages {
		if k := slices.IndexFunc(m.ToolCalls, func(t ToolCall) bool { return t.ID == id }); k >= 0 {
			return n, k
		}
	}
	return -1, -1
}

func (c *client) apply(w wire) error {
	var delta string
	if w.Type != TypeStateDelta && w.Delta != nil {
		if err := json.Unmarshal(w.Delta, &delta); err != nil {
			return err
		}
	}
	switch w.Type {
	case TypeTextStart, TypeThoughtStart:
		if c.find(*w.MessageID) < 0 {
			c.messages = append(c.messages, Message{ID: *w.MessageID, Role: w.Role, Name: w.Name, Content: new(string)})
		}
	case TypeTextContent, TypeThoughtContent:
		return c.appendText(*w.MessageID, delta)
	case TypeCallStart:
		return c.startCall(w)
	case TypeCallArgs:
		n, k := c.findCall(*w.ToolCallID)
		if n < 0 {
			return fmt.Errorf("no such call")
		}
		calls := slices.Clone(c.messages[n].ToolCalls)
		calls[k].Function.Arguments += delta
		c.messages[n].ToolCalls = calls
	case TypeCallEnd:
		if n, _ := c.findCall(*w.ToolCallID); n < 0 {
			return fmt.Errorf("no such call")
		}
	case TypeTextEnd:
		if c.find(*w.MessageID) < 0 {
			return fmt.Errorf("no such message")
		}
	case TypeCallResult:
		return c.result(w)
	case TypeMessagesSnapshot:
		return c.replace(w.Messages)
	case TypeStateSnapshot:
		c.state = w.Snapshot
	case TypeStateDelta:
		return c.patch(w.Delta)
	case TypeCustom:
		if w.Name == CustomAttempt { // has no entry in the record
			return nil
		}
		id, ok := w.Value["id"].(string)
		if !ok {
			return fmt.Errorf("%s has no id: an event that is in no record has to be known here", w.Name)
		}
		c.custom[id]++
	case TypeRunFinished:
		if w.Outcome != nil {
			c.outcome = *w.Outcome
		}
	}
	return nil
}

func (c *client) appendText(id, delta string) error {
	n := c.find(id)
	if n < 0 {
		return fmt.Errorf("no such message")
	}
	text := delta
	if c.messages[n].Content != nil {
		text = *c.messages[n].Content + delta
	}
	c.messages[n].Content = &text
	return nil
}

func (c *client) startCall(w wire) error {
	if n, _ := c.findCall(*w.ToolCallID); n >= 0 {
		return fmt.Errorf("the call is there already")
	}
	n := c.find(w.ParentMessageID)
	if n < 0 {
		n = len(c.messages)
		c.messages = append(c.messages, Message{ID: w.ParentMessageID, Role: RoleAssistant})
	}
	if c.messages[n].Role != RoleAssistant {
		return fmt.Errorf("the parent is %s", c.messages[n].Role)
	}
	if !slices.Contains(c.pendings, *w.ToolCallID) {
		c.pendings = append(c.pendings, *w.ToolCallID)
	}
	call := ToolCall{ID: *w.ToolCallID, Type: "function", Function: Function{Name: *w.ToolCallName}}
	c.messages[n].ToolCalls = append(slices.Clone(c.messages[n].ToolCalls), call)
	return nil
}

func (c *client) result(w wire) error {
	if c.find(*w.MessageID) >= 0 {
		return fmt.Errorf("the message is there already")
	}
	c.answered = append(c.answered, *w.ToolCallID)
	m := Message{ID: *w.MessageID, Role: RoleTool, ToolCallID: *w.ToolCallID, Content: w.Content, Metadata: w.Metadata}
	at, _ := c.findCall(*w.ToolCallID)
	if at < 0 {
		return fmt.Errorf("no such call")
	}
	for at++; at < len(c.messages) && c.messages[at].Role == RoleTool; at++ {
	}
	c.messages = slices.Insert(slices.Clone(c.messages), at, m)
	return nil
}

func (c *client) replace(with []Message) error {
	if with == nil {
		return fmt.Errorf("no messages")
	}
	var kept []Message
	for _, m := range c.messages {
		n := slices.IndexFunc(with, func(o Message) bool { return o.ID == m.ID })
		switch {
		case n >= 0:
			kept = append(kept, with[n])
		case m.Role == RoleReasoning:
			kept = append(kept, m)
		}
	}
	c.messages = kept
	for _, m := range with {
		if c.find(m.ID) < 0 {
			c.messages = append(c.messages, m)
		}
	}
	return nil
}

func (c *client) patch(raw json.RawMessage) error {
	var ops []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal(raw, &ops); err != nil {
		return err
	}
	for _, o := range ops {
		member, name, _ := strings.Cut(o.Path[1:], "/")
		agent, _ := c.state[member].(map[string]any)
		if _, ok := agent[name]; !ok || o.Op != "replace" {
			return fmt.Errorf("cannot %s %s", o.Op, o.Path)
		}
		agent[name] = o.Value
	}
	return nil
}
