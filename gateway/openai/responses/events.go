package responses

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"agent-stop-and-go/gateway/sse"
)

// event is an event of a stream. Its type decides which members it has.
type event struct {
	Type         string     `json:"type"`
	Number       int64      `json:"sequence_number"`
	Response     *resource  `json:"response,omitempty"`
	OutputIndex  *int       `json:"output_index,omitempty"`
	ContentIndex *int       `json:"content_index,omitempty"`
	ItemID       string     `json:"item_id,omitempty"`
	Item         *output    `json:"item,omitempty"`
	Part         *part      `json:"part,omitempty"`
	Delta        *string    `json:"delta,omitempty"`
	Text         *string    `json:"text,omitempty"`
	Name         string     `json:"name,omitempty"`
	Arguments    *string    `json:"arguments,omitempty"`
	Logprobs     []struct{} `json:"logprobs,omitzero"`
}

// events makes the events of a response, numbers them, and sends those behind a number.
type events struct {
	send  func(name string, data []byte) error
	after int64
	next  int64
	index int    // of the item that is being written
	open  string // the ID of the message that is being written, or ""
	text  bytes.Buffer
	sent  int // how much of text was sent
}

func (s *events) emit(e event) error {
	e.Number = s.next
	s.next++
	if e.Number <= s.after {
		return nil
	}
	data, err := sse.Encode(e)
	if err != nil {
		return err
	}
	return s.send(e.Type, data)
}

// begin sends that the response is there.
func (s *events) begin(r resource) error {
	if err := s.emit(event{Type: "response.created", Response: &r}); err != nil {
		return err
	}
	return s.emit(event{Type: "response.in_progress", Response: &r})
}

// end sends that the response has ended. It is sent behind every number: a client whose stream was
// longer, because the model was asked again, gets the whole response by it.
func (s *events) end(r resource) error {
	kind := "response.completed"
	switch r.Status {
	case statusFailed:
		kind = "response.failed"
	case statusCancelled, statusIncomplete:
		kind = "response.incomplete"
	}
	s.next = max(s.next, s.after+1)
	return s.emit(event{Type: kind, Response: &r})
}

// tell takes a piece of the text of a message, and sends its words. The last one waits for its end, so that the same
// text has the same events however it comes in pieces. The first character is sent alone: nobody waits for a word to
// see that the reply begins.
func (s *events) tell(id, piece string) error {
	if piece == "" {
		return nil
	}
	if s.open == "" {
		if err := s.openMessage(id); err != nil {
			return err
		}
	}
	s.text.WriteString(piece)
	for {
		n := word(s.text.Bytes()[s.sent:])
		if rest := s.text.Bytes(); s.sent == 0 && utf8.FullRune(rest) {
			_, n = utf8.DecodeRune(rest)
		}
		if n == 0 {
			return nil
		}
		if err := s.delta(n); err != nil {
			return err
		}
	}
}

// delta sends the next n bytes of the text.
func (s *events) delta(n int) error {
	zero, index, piece := 0, s.index, string(s.text.Bytes()[s.sent:s.sent+n])
	s.sent += n
	return s.emit(event{Type: "response.output_text.delta", OutputIndex: &index, ContentIndex: &zero, ItemID: s.open, Delta: &piece, Logprobs: []struct{}{}})
}

// maxWord bounds the bytes of a word, for texts without spaces.
const maxWord = 32

// word returns the length of the first word of a text, with the spaces before it, or 0 if its end is not there yet.
func word(text []byte) int {
	inside := false
	for n := 0; n < len(text); {
		if !utf8.FullRune(text[n:]) {
			return 0
		}
		r, size := utf8.DecodeRune(text[n:])
		if space := unicode.IsSpace(r); n > 0 && (n+size > maxWord || inside && space) {
			return n
		} else if !space {
			inside = true
		}
		n += size
	}
	return 0
}

func (s *events) openMessage(id string) error {
	s.open, s.sent = id, 0
	s.text.Reset()
	zero, index, empty := 0, s.index, textPart("")
	item := output{ID: id, Type: "message", Status: statusInProgress, Role: "assistant", Content: []part{}}
	if err := s.emit(event{Type: "response.output_item.added", OutputIndex: &index, Item: &item}); err != nil {
		return err
	}
	return s.emit(event{Type: "response.content_part.added", OutputIndex: &index, ContentIndex: &zero, ItemID: id, Part: &empty})
}

// closeMessage ends the message that is being written, if there is one. status is that of its item.
func (s *events) closeMessage(status string) error {
	if s.open == "" {
		return nil
	}
	if rest := s.text.Len() - s.sent; rest > 0 {
		if err := s.delta(rest); err != nil {
			return err
		}
	}
	id, text, zero, index := s.open, s.text.String(), 0, s.index
	whole, item := textPart(text), message(s.open, text)
	item.Status = status
	s.open = ""
	s.index++
	for _, e := range []event{
		{Type: "response.output_text.done", OutputIndex: &index, ContentIndex: &zero, ItemID: id, Text: &text, Logprobs: []struct{}{}},
		{Type: "response.content_part.done", OutputIndex: &index, ContentIndex: &zero, ItemID: id, Part: &whole},
		{Type: "response.output_item.done", OutputIndex: &index, Item: &item},
	} {
		if err := s.emit(e); err != nil {
			return err
		}
	}
	return nil
}

// item sends a whole item that is not a message.
func (s *events) item(o output) error {
	index := s.index
	s.index++
	begun := o
	list := []event{{Type: "response.output_item.added", OutputIndex: &index, Item: &begun}}
	if o.Type == "function_call" {
		empty := ""
		begun.Status, begun.Arguments = statusInProgress, &empty
		list = append(list,
			event{Type: "response.function_call_arguments.delta", OutputIndex: &index, ItemID: o.ID, Delta: o.Arguments},
			event{Type: "response.function_call_arguments.done", OutputIndex: &index, ItemID: o.ID, Name: o.Name, Arguments: o.Arguments})
	}
	for _, e := range append(list, event{Type: "response.output_item.done", OutputIndex: &index, Item: &o}) {
		if err := s.emit(e); err != nil {
			return err
		}
	}
	return nil
}
