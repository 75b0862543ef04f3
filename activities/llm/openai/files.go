package openai

import (
	"cmp"
	"encoding/base64"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract/modality"
)

// images returns one user message with the images that the calls of a reply returned, each
// call's under a line that names it: messages of tools hold only text. Without images there
// is no message.
func (d dialect) images(calls []llm.PastCall, names llm.Names) []openai.ChatCompletionMessageParamUnion {
	var parts []openai.ChatCompletionContentPartUnionParam
	for _, c := range calls {
		images := imageParts(c.Media)
		if len(images) == 0 {
			continue
		}
		line := fmt.Sprintf("Images in the result of %s (call %s):", names.Wire(c.Name), d.callID(c.ID))
		parts = append(append(parts, openai.TextContentPart(line)), images...)
	}
	if len(parts) == 0 {
		return nil
	}
	message := openai.UserMessage(parts)
	if d.bridge {
		return []openai.ChatCompletionMessageParamUnion{openai.AssistantMessage(bridgeText), message}
	}
	return []openai.ChatCompletionMessageParamUnion{message}
}

// userMessage returns a user's PDFs, text and images.
func userMessage(t llm.Turn) openai.ChatCompletionMessageParamUnion {
	parts, images := pdfParts(t.Media), imageParts(t.Media)
	if len(parts)+len(images) == 0 {
		return openai.UserMessage(t.Text)
	}
	if t.Text != "" {
		parts = append(parts, openai.TextContentPart(t.Text))
	}
	return openai.UserMessage(append(parts, images...))
}

// unnamed is the name of a file without one: the API requires a name.
const unnamed = "document.pdf"

func pdfParts(media []llm.Media) []openai.ChatCompletionContentPartUnionParam {
	var out []openai.ChatCompletionContentPartUnionParam
	for _, m := range llm.PDFs(media) {
		out = append(out, openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{
			Filename: param.NewOpt(cmp.Or(m.Name, unnamed)), FileData: param.NewOpt(dataURL(modality.PDF, m.Data)),
		}))
	}
	return out
}

func dataURL(kind string, data []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func imageParts(media []llm.Media) []openai.ChatCompletionContentPartUnionParam {
	var out []openai.ChatCompletionContentPartUnionParam
	for _, m := range media {
		if kind := llm.ImageType(m.Data); kind != "" {
			out = append(out, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: dataURL(kind, m.Data)}))
		}
	}
	return out
}
