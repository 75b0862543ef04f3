package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// continueText is the text of a user's message that the API requires and the conversation
// lacks: at the beginning, and at the end, where later models refuse an assistant's message
// (platform.claude.com/docs/en/api/errors#prefill-not-supported).
const continueText = "Go on."

// dialogue writes turns as messages with alternating roles.
type dialogue struct {
	claude
	names    llm.Names
	ids      callIDs
	messages []anthropic.MessageParam
}

func (c claude) messages(turns []llm.Turn, names llm.Names) []anthropic.MessageParam {
	d := &dialogue{claude: c, names: names, ids: callIDs{}}
	for _, t := range turns {
		if t.Role == contract.RoleUser {
			d.add(anthropic.MessageParamRoleUser, slices.Concat(pdfBlocks(t.Media), textBlocks(t.Text), imageBlocks(t.Media))...)
			continue
		}
		d.reply(t)
	}
	if n := len(d.messages); n == 0 || d.messages[n-1].Role != anthropic.MessageParamRoleUser {
		d.add(anthropic.MessageParamRoleUser, textBlocks(continueText)...)
	}
	// A conversation of several turns is likely to continue: with this mark the next
	// request finds all of it in the provider's cache.
	if last := d.messages[len(d.messages)-1].Content; len(turns) > 1 {
		*last[len(last)-1].GetCacheControl() = anthropic.NewCacheControlEphemeralParam()
	}
	return d.messages
}

func (d *dialogue) add(role anthropic.MessageParamRole, blocks ...anthropic.ContentBlockParamUnion) {
	n := len(d.messages)
	switch {
	case len(blocks) == 0:
	case n > 0 && d.messages[n-1].Role == role:
		d.messages[n-1].Content = append(d.messages[n-1].Content, blocks...)
	case n == 0 && role != anthropic.MessageParamRoleUser:
		d.messages = []anthropic.MessageParam{anthropic.NewUserMessage(textBlocks(continueText)...), {Role: role, Content: blocks}}
	default:
		d.messages = append(d.messages, anthropic.MessageParam{Role: role, Content: blocks})
	}
}

// textBlocks returns a block with the text; none for an empty text, which the API refuses.
func textBlocks(text string) []anthropic.ContentBlockParamUnion {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(text)}
}

// reply adds a reply of the model. The results of its calls come first in the next message.
func (d *dialogue) reply(t llm.Turn) {
	blocks := textBlocks(t.Text)
	var ids []string
	var results, after []anthropic.ContentBlockParamUnion
	for _, c := range t.Calls {
		id := d.ids.wireID(c.ID)
		ids = append(ids, id)
		blocks = append(blocks, anthropic.NewToolUseBlock(id, c.Arguments, d.names.Wire(c.Name)))
		results = append(results, toolResult(id, c))
		after = append(after, d.imagesOfFailure(id, c)...)
	}
	if own := d.nativeReply(t, ids); own != nil {
		blocks = own
	}
	d.add(anthropic.MessageParamRoleAssistant, blocks...)
	d.add(anthropic.MessageParamRoleUser, append(results, after...)...)
}

// nativeReply returns a reply as the API sent it, with the thoughts that it wants back
// unchanged; nil unless its calls have the IDs that the results use.
func (d *dialogue) nativeReply(t llm.Turn, ids []string) []anthropic.ContentBlockParamUnion {
	native := d.NativeOf(t)
	var content []json.RawMessage
	if native == nil || json.Unmarshal(native.Content, &content) != nil {
		return nil
	}
	var out []anthropic.ContentBlockParamUnion
	var calls []string
	for _, raw := range content {
		var b struct{ Type, ID string }
		if json.Unmarshal(raw, &b) != nil || b.Type == "" {
			return nil
		}
		if b.Type == "tool_use" {
			calls = append(calls, b.ID)
		}
		out = append(out, param.Override[anthropic.ContentBlockParamUnion](raw))
	}
	if slices.Sort(calls); !slices.Equal(calls, slices.Sorted(slices.Values(ids))) {
		return nil
	}
	return out
}

func toolResult(id string, c llm.PastCall) anthropic.ContentBlockParamUnion {
	b := anthropic.ToolResultBlockParam{ToolUseID: id}
	for _, text := range textBlocks(c.Result) {
		b.Content = append(b.Content, anthropic.ToolResultBlockParamContentUnion{OfText: text.OfText})
	}
	if c.IsError {
		b.IsError = param.NewOpt(true)
		return anthropic.ContentBlockParamUnion{OfToolResult: &b}
	}
	for _, image := range imageBlocks(c.Media) {
		b.Content = append(b.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: &b}
}

// imagesOfFailure returns the images of a call that failed, after a line that names the call:
// the API takes only text in such a result.
func (d *dialogue) imagesOfFailure(id string, c llm.PastCall) []anthropic.ContentBlockParamUnion {
	images := imageBlocks(c.Media)
	if !c.IsError || len(images) == 0 {
		return nil
	}
	return append(textBlocks(fmt.Sprintf("Images in the result of %s (call %s):", d.names.Wire(c.Name), id)), images...)
}

// maxTitle is the API's limit for the title of a document, in characters.
const maxTitle = 500

// pdfBlocks returns the documents of a user, which the API wants before the text
// (platform.claude.com/docs/en/build-with-claude/pdf-support).
func pdfBlocks(media []llm.Media) []anthropic.ContentBlockParamUnion {
	var out []anthropic.ContentBlockParamUnion
	for _, m := range llm.PDFs(media) {
		b := anthropic.NewDocumentBlock(anthropic.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(m.Data)})
		if m.Name != "" {
			name := []rune(m.Name)
			b.OfDocument.Title = param.NewOpt(string(name[:min(len(name), maxTitle)]))
		}
		out = append(out, b)
	}
	return out
}

func imageBlocks(media []llm.Media) []anthropic.ContentBlockParamUnion {
	var out []anthropic.ContentBlockParamUnion
	for _, m := range media {
		if kind := llm.ImageType(m.Data); kind != "" {
			out = append(out, anthropic.NewImageBlockBase64(kind, base64.StdEncoding.EncodeToString(m.Data)))
		}
	}
	return out
}

var toolUseID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// callIDs are the IDs of a request's calls: the API allows letters, digits, underscore and dash
// in them, and each only once. A turn only guarantees that its own IDs are distinct.
type callIDs map[string]bool

// wireID returns the ID on the wire for a call's ID. It depends on nothing but the
// conversation.
func (used callIDs) wireID(id string) string {
	out := id
	if !toolUseID.MatchString(id) {
		out = hashedID(id)
	}
	for n := 2; used[out]; n++ {
		out = hashedID(id + "\n" + strconv.Itoa(n))
	}
	used[out] = true
	return out
}

func hashedID(id string) string { return "call_" + contract.Hash([]byte(id))[:24] }
