package openai

import (
	"encoding/base64"
	"fmt"

	"github.com/openai/openai-go/v3"

	"agent-stop-and-go/activities/llm"
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

// userMessage returns a user's text with its images.
func userMessage(t llm.Turn) openai.ChatCompletionMessageParamUnion {
	images := imageParts(t.Media)
	switch {
	case len(images) == 0:
		return openai.UserMessage(t.Text)
	case t.Text == "":
		return openai.UserMessage(images)
	}
	return openai.UserMessage(append([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(t.Text)}, images...))
}

func imageParts(media []llm.Media) []openai.ChatCompletionContentPartUnionParam {
	var out []openai.ChatCompletionContentPartUnionParam
	for _, m := range media {
		if kind := llm.ImageType(m.Data); kind != "" {
			url := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
			out = append(out, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}))
		}
	}
	return out
}
