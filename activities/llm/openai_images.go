package llm

import (
	"encoding/base64"
	"fmt"

	"github.com/openai/openai-go/v3"
)

// images is one user message with the images that calls of one reply returned,
// each call's under a line that names it: messages of tools hold nothing but
// text. There is none without images.
func (d dialect) images(calls []PastCall, names nameTable) []openai.ChatCompletionMessageParamUnion {
	var parts []openai.ChatCompletionContentPartUnionParam
	for _, c := range calls {
		var images []openai.ChatCompletionContentPartUnionParam
		for _, m := range c.Media {
			if kind := ImageType(m.Data); kind != "" {
				url := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
				images = append(images, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}))
			}
		}
		if len(images) == 0 {
			continue
		}
		line := fmt.Sprintf("Images in the result of %s (call %s):", names.toWire(c.Name), d.callID(c.ID))
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
