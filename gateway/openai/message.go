package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Content is the content of a message: a string, or parts.
type Content struct {
	Text  string
	Parts []Part
}

// Part is a part of the content, of chat/completions or of responses.
type Part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	ImageURL json.RawMessage `json:"image_url"` // an object with url, or the URL
	File     *FilePart       `json:"file"`
	FilePart                 // of responses
}

// FilePart is a file in base64, as a data URL or alone.
type FilePart struct {
	FileData string `json:"file_data"`
	FileID   string `json:"file_id"`
	FileURL  string `json:"file_url"`
	Filename string `json:"filename"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Content) UnmarshalJSON(data []byte) error {
	*c = Content{}
	switch data[0] {
	case '"':
		return json.Unmarshal(data, &c.Text)
	case '[':
		return json.Unmarshal(data, &c.Parts)
	case 'n':
		return nil
	}
	return fmt.Errorf("content: expected a string or a list of parts")
}

// The limits of a message.
const (
	maxText  = 1 << 20
	maxFiles = 16
)

// Attached is a content as a message of the service: its text, which has the text of files, and its
// images and PDFs.
type Attached struct {
	Text  string
	Files []service.File
}

// Read returns the content as text and files.
func (c Content) Read() (Attached, error) {
	var out Attached
	texts := []string{}
	if c.Text != "" {
		texts = append(texts, c.Text)
	}
	if len(c.Parts) > contract.MaxParts {
		return out, service.Errorf(contract.KindTooLarge, "the message has %d parts: the limit is %d", len(c.Parts), contract.MaxParts)
	}
	for n, p := range c.Parts {
		text, file, err := p.read(n)
		if err != nil {
			return out, err
		}
		if file != nil {
			out.Files = append(out.Files, *file)
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	out.Text = strings.Join(texts, "\n\n")
	switch {
	case len(out.Text) > maxText:
		return out, service.Errorf(contract.KindTooLarge, "message too large: it has %d bytes, the limit is %d", len(out.Text), maxText)
	case len(out.Files) > maxFiles:
		return out, service.Errorf(contract.KindTooLarge, "the message has %d images and PDFs: the limit is %d", len(out.Files), maxFiles)
	}
	return out, nil
}

// read returns the text of a part, and its file if models are shown it: an image or a PDF.
func (p Part) read(n int) (string, *service.File, error) {
	switch p.Type {
	case "text", "input_text", "output_text":
		return p.Text, nil, nil
	case "refusal":
		return p.Refusal, nil, nil
	case "image_url", "input_image":
		return attach(n, p.imageURL(), fmt.Sprintf("image %d", n+1))
	case "file", "input_file":
		f := p.FilePart
		if p.File != nil {
			f = *p.File
		}
		name := f.Filename
		if name == "" {
			name = fmt.Sprintf("file %d", n+1)
		}
		data := cmp.Or(f.FileData, f.FileURL)
		if data == "" {
			return "", nil, unsupported("content[%d]: only files with file_data are supported", n)
		}
		return attach(n, data, name)
	}
	return "", nil, unsupported("content[%d]: a part of type %s is not supported; text, image_url with a data URL and file are", n, service.Printable(p.Type))
}

func unsupported(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, format, args...)
}

func (p Part) imageURL() string {
	var direct string
	if json.Unmarshal(p.ImageURL, &direct) == nil {
		return direct
	}
	var inside struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(p.ImageURL, &inside) // what is neither has no URL
	return inside.URL
}

// attach reads a file from a data URL. Other URLs are refused: the agent fetches nothing for a
// client.
func attach(n int, data, name string) (string, *service.File, error) {
	kind, content, err := dataURL(data)
	if err != nil {
		return "", nil, unsupported("content[%d]: %w", n, err)
	}
	f := service.File{Name: name, MediaType: request.MediaType(kind, content), Data: content}
	text, shown, err := request.Attachment(f)
	if err != nil || !shown {
		return text, nil, err
	}
	return text, &f, nil
}

func dataURL(s string) (kind string, content []byte, err error) {
	rest, isURL := strings.CutPrefix(s, "data:")
	if !isURL {
		if u, err := url.Parse(s); err == nil && u.Scheme != "" {
			return "", nil, fmt.Errorf("expected a data URL, not an address: nothing is fetched for a client")
		}
		content, err = base64.StdEncoding.DecodeString(s)
		return "", content, err
	}
	head, body, _ := strings.Cut(rest, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	if !encoded {
		text, err := url.PathUnescape(body)
		return kind, []byte(text), err
	}
	content, err = base64.StdEncoding.DecodeString(body)
	return kind, content, err
}
