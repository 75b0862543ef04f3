package agui

import "slices"

// withheldCalls hides calls of the client's own tools from a client that would make them at
// once, even those that wait for an approval. The client sees a call when it has to make it,
// or when the call has a result.
type withheldCalls struct {
	own      func(toolCallID, tool string) bool
	calls    []*withheldCall
	released map[string]bool
}

type withheldCall struct {
	start CallStart
	args  []byte
	ended bool
}

// filter returns the events that the client gets for an event.
func (w *withheldCalls) filter(data any) []any {
	switch d := data.(type) {
	case CallStart:
		return w.start(d)
	case CallArgs:
		if c := w.find(d.ToolCallID); c != nil {
			c.args = append(c.args, d.Delta...)
			return nil
		}
	case CallEnd:
		if c := w.find(d.ToolCallID); c != nil {
			c.ended = true
			return nil
		}
	case CallResult:
		return w.result(d)
	case MessagesSnapshot:
		return []any{w.snapshot(d)}
	case RunFinished:
		return w.finish(d)
	}
	return []any{data}
}

func (w *withheldCalls) find(call string) *withheldCall {
	n := slices.IndexFunc(w.calls, func(c *withheldCall) bool { return c.start.ToolCallID == call })
	if n < 0 {
		return nil
	}
	return w.calls[n]
}

// withholds reports whether the client must not see a call yet.
func (w *withheldCalls) withholds(call, tool string) bool {
	return !w.released[call] && w.own(call, tool)
}

func (w *withheldCalls) start(d CallStart) []any {
	if !w.withholds(d.ToolCallID, d.ToolCallName) {
		return []any{d}
	}
	w.calls = append(w.calls, &withheldCall{start: d})
	return nil
}

// result releases a call together with its result. A call that is taken back is never shown.
func (w *withheldCalls) result(d CallResult) []any {
	if w.find(d.ToolCallID) == nil {
		return []any{d}
	}
	shown := w.release(d.ToolCallID)
	if d.MessageID == voidID(d.ToolCallID) {
		delete(w.released, d.ToolCallID)
		return nil
	}
	return append(shown, d)
}

// release returns the events of a call, which the client may see from now on.
func (w *withheldCalls) release(call string) []any {
	c := w.find(call)
	if c == nil {
		return nil
	}
	w.calls = slices.DeleteFunc(w.calls, func(o *withheldCall) bool { return o == c })
	w.released[call] = true
	out := []any{c.start, CallArgs{TypeCallArgs, call, string(c.args)}}
	if c.ended {
		out = append(out, CallEnd{TypeCallEnd, call})
	}
	return out
}

// finish releases the calls that the client has to make now. An interrupt about a call that
// stays hidden refers to no call.
func (w *withheldCalls) finish(d RunFinished) []any {
	var out []any
	for _, call := range d.Outcome.calls {
		out = append(out, w.release(call)...)
	}
	interrupts := slices.Clone(d.Outcome.Interrupts)
	for n, i := range interrupts {
		if w.find(i.ToolCallID) == nil {
			continue
		}
		interrupts[n].ToolCallID = ""
		if i.Reason == InterruptToolCall {
			interrupts[n].Reason = InterruptApproval
		}
	}
	d.Outcome.Interrupts = interrupts
	return append(out, d)
}

// snapshot removes the withheld calls from a snapshot.
func (w *withheldCalls) snapshot(d MessagesSnapshot) MessagesSnapshot {
	answered := map[string]bool{}
	for _, m := range d.Messages {
		answered[m.ToolCallID] = true
	}
	w.calls = nil
	messages := []Message{}
	for _, m := range d.Messages {
		all := len(m.ToolCalls)
		m.ToolCalls = w.visible(m, answered)
		if len(m.ToolCalls) > 0 || all == 0 || m.Content != nil {
			messages = append(messages, m)
		}
	}
	d.Messages = messages
	return d
}

// visible returns the calls of a message that the client may see.
func (w *withheldCalls) visible(m Message, answered map[string]bool) []ToolCall {
	var visible []ToolCall
	for _, c := range m.ToolCalls {
		if answered[c.ID] || !w.withholds(c.ID, c.Function.Name) {
			visible = append(visible, c)
			continue
		}
		w.calls = append(w.calls, &withheldCall{
			start: CallStart{TypeCallStart, c.ID, c.Function.Name, m.ID}, args: []byte(c.Function.Arguments), ended: true,
		})
	}
	return visible
}
