package toolbox

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/workflows/contract"
)

// MaxText is the size in bytes above which a result is cut, with a note.
const MaxText = 16 << 20

type answer struct {
	ResultType        mcp.ResultType  `json:"resultType"`
	Content           []block         `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

// block is a content block of any type.
type block struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text"`
	MIMEType string    `json:"mimeType"`
	Data     string    `json:"data"`
	URI      string    `json:"uri"`
	Name     string    `json:"name"`
	Size     int64     `json:"size"`
	Resource *resource `json:"resource"`
}

type resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"`
}

var errNoResult = errors.New("the answer is no result of a tool")

// readAnswer converts a raw result of tools/call to a verdict. An unreadable answer is lost.
func readAnswer(raw json.RawMessage, destructive bool) verdict {
	var a *answer // null is not a result
	if err := json.Unmarshal(raw, &a); err != nil {
		return lost(fmt.Errorf("decode the result: %w", err), destructive)
	}
	if a == nil || cmp.Or(a.ResultType, mcp.ResultTypeComplete) != mcp.ResultTypeComplete {
		return lost(errNoResult, destructive)
	}
	c := a.content()
	return verdict{result: Result{Text: c.text("\n"), Media: c.media, Links: c.links, IsError: a.IsError}}
}

// readContents converts a raw result of resources/read to a result of a call.
func readContents(raw json.RawMessage) (Result, error) {
	var r struct {
		Contents []resource `json:"contents"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Result{}, fmt.Errorf("decode the resource: %w", err)
	}
	var all content
	for _, c := range r.Contents {
		if c.Text != nil {
			all.lines = append(all.lines, *c.Text)
			continue
		}
		all.add(block{Type: "resource", Resource: &c})
	}
	return Result{Text: all.text("\n"), Media: all.media, Links: all.links}, nil
}

// readPrompt converts a raw result of prompts/get to a result of a call: each message under its
// role.
func readPrompt(raw json.RawMessage) (Result, error) {
	var r struct {
		Messages []struct {
			Role    string `json:"role"`
			Content block  `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Result{}, fmt.Errorf("decode the prompt: %w", err)
	}
	var all content
	for _, m := range r.Messages {
		said := content{media: all.media, links: all.links}
		said.add(m.Content)
		said.lines = append(all.lines, m.Role+": "+strings.Join(said.lines, "\n"))
		all = said
	}
	return Result{Text: all.text("\n\n"), Media: all.media, Links: all.links}, nil
}

// content collects blocks.
type content struct {
	lines []string
	media []Media
	links []contract.Link
}

func (c content) text(between string) string { return cut(strings.Join(c.lines, between)) }

func (a answer) content() content {
	var c content
	texts := 0
	for _, b := range a.Content {
		if b.Type == "text" && b.Text != nil {
			texts++
		}
		c.add(b)
	}
	if structured := string(a.StructuredContent); texts == 0 && structured != "" && structured != "null" {
		c.lines = append(c.lines, structured)
	}
	return c
}

// add adds the text of a block, or one line of JSON that describes it; both for an embedded
// text. The data of a described block is kept if possible.
func (c *content) add(b block) {
	d := description{Type: b.Type, MIMEType: b.MIMEType, Name: b.Name, URI: b.URI, Size: b.Size}
	switch {
	case b.Type == "text" && b.Text != nil:
		c.lines = append(c.lines, *b.Text)
		return
	case b.Resource != nil && b.Resource.Text != nil:
		d.URI, d.MIMEType, d.Size = b.Resource.URI, b.Resource.MIMEType, int64(len(*b.Resource.Text))
		c.lines = append(c.lines, d.line(), *b.Resource.Text)
		return
	case b.Resource != nil:
		d.URI, d.MIMEType = b.Resource.URI, b.Resource.MIMEType
		c.keep(b.Resource.Blob, &d)
	case b.Data != "":
		c.keep(b.Data, &d)
	case b.Type == "resource_link":
		c.link(d)
	}
	c.lines = append(c.lines, d.line())
}

type description struct {
	Type     string `json:"type"`
	MIMEType string `json:"mimeType,omitempty"`
	Name     string `json:"name,omitempty"`
	URI      string `json:"uri,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Note     string `json:"note,omitempty"`
}

func (d description) line() string {
	line, err := json.Marshal(d)
	if err != nil {
		return d.Type
	}
	return string(line)
}

func decodedSize(data string) int64 {
	return int64(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(data, "="))))
}

func cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	end := MaxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[cut: the result has %d bytes, the first %d are shown]", text[:end], len(text), end)
}
