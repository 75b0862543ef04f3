package handler

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// message is an A2A message as input for the agent.
type message struct {
	id          string // the sender's
	text        string
	files       []service.File
	chain       []string
	fingerprint string // the whole content
	earlier     string // what was said in the tasks that the message continues
}

// readMessage reads the parts: text unchanged, data as JSON, text files within the text,
// images and PDFs separately. Other files are refused, because the agent cannot read them.
func readMessage(m *a2a.Message) (message, error) {
	in := message{id: m.ID}
	if len(m.ID) > maxMessageID {
		return in, a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("messageId: expected at most %d bytes", maxMessageID))
	}
	if len(m.Parts) > contract.MaxParts {
		return in, a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("parts: the message has %d: the limit is %d", len(m.Parts), contract.MaxParts))
	}
	var lines []string
	for _, p := range m.Parts {
		text, err := in.part(p)
		if err != nil {
			return in, err
		}
		if text != "" {
			lines = append(lines, text)
		}
	}
	in.text = strings.Join(lines, "\n\n")
	if strings.TrimSpace(in.text) == "" {
		return in, a2a.NewError(a2a.ErrInvalidParams, "No text part in message")
	}
	for _, f := range in.files {
		in.fingerprint += "\n" + f.MediaType + contract.Hash(f.Data)
	}
	in.fingerprint = in.text + in.fingerprint
	return in, in.readChain(m.Metadata[contract.MetaChain])
}

// sum returns a hash of the content.
func (in message) sum() string { return contract.Hash([]byte(in.fingerprint)) }

// part returns the text of a part. Images and PDFs are added to the files, too.
func (in *message) part(p *a2a.Part) (string, error) {
	switch content := p.Content.(type) {
	case a2a.Text:
		return string(content), nil
	case a2a.Data:
		raw, err := json.Marshal(content.Value)
		if err != nil {
			return "", a2a.NewError(a2a.ErrInvalidParams, "a data part cannot be read")
		}
		return string(raw), nil
	case a2a.URL:
		return fmt.Sprintf("[file %s %s]", p.Filename, string(content)), nil
	case a2a.Raw:
		return in.file(service.File{Name: p.Filename, MediaType: request.MediaType(p.MediaType, content), Data: content})
	}
	return "", a2a.NewError(a2a.ErrInvalidParams, "a part has no content")
}

func (in *message) file(f service.File) (string, error) {
	text, shown, err := request.Attachment(f)
	if err != nil {
		return "", a2a.NewError(a2a.ErrUnsupportedContentType, "Incompatible content types: "+err.Error())
	}
	if shown {
		in.files = append(in.files, f)
	}
	return text, nil
}

const (
	maxAgentName = 100
	maxChain     = 100 // names
	maxMessageID = 256
)

// readChain reads the names of the agents that forwarded the work, and refuses a chain that
// is too long.
func (in *message) readChain(value any) (err error) {
	if in.chain, err = readChain(value); err != nil {
		return err
	}
	if len(in.chain) >= contract.MaxHops {
		return a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf(
			"the work has come through %d agents already (%s), which is as many as there may be: do they call one another for ever?",
			len(in.chain), contract.ChainText(in.chain)))
	}
	return nil
}

func readChain(value any) (chain []string, err error) {
	if value == nil {
		return nil, nil
	}
	list, ok := value.([]any)
	ok = ok && len(list) <= maxChain
	for _, v := range list {
		name, isText := v.(string)
		ok = ok && isText && name != "" && len(name) <= maxAgentName
		chain = append(chain, service.Printable(name))
	}
	if !ok {
		return nil, a2a.NewError(a2a.ErrInvalidParams, contract.MetaChain+" must be a list of names")
	}
	return chain, nil
}

const maxContextID = 200

func checkContext(id string) error {
	visible := func(r rune) bool { return r > ' ' && r <= '~' }
	if len(id) > maxContextID || strings.ContainsFunc(id, func(r rune) bool { return !visible(r) }) {
		return a2a.NewError(a2a.ErrInvalidParams, fmt.Sprintf("contextId: expected at most %d visible ASCII characters", maxContextID))
	}
	return nil
}

// serviceMessage returns the message as input of the service. It never answers a question
// that comes up after the message was checked.
func (in message) serviceMessage() service.Message {
	return service.Message{Text: in.text, Preface: in.earlier, ClientID: in.id, Files: in.files, NoAnswer: true}
}
