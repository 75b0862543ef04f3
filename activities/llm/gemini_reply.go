package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"agent-stop-and-go/workflows/contract"
)

// geminiChunk is a piece of an answer, or a whole one. There is one candidate:
// none asks for more.
type geminiChunk struct {
	Candidates []struct {
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishReason genai.FinishReason `json:"finishReason"`
	} `json:"candidates"`
	Usage    *genai.GenerateContentResponseUsageMetadata  `json:"usageMetadata"`
	Feedback *genai.GenerateContentResponsePromptFeedback `json:"promptFeedback"`
	Model    string                                       `json:"modelVersion"`
	Error    json.RawMessage                              `json:"error"`
}

// geminiSaid is a part of a reply.
type geminiSaid struct {
	Text      *string     `json:"text"`
	Thought   bool        `json:"thought"`
	Call      *geminiCall `json:"functionCall"`
	Signature string      `json:"thoughtSignature"`
}

// geminiReply is a reply that is being made.
type geminiReply struct {
	*draft
	parts geminiParts
	empty bool // there were pieces, but none with a candidate
	begun bool // there was a candidate
	ended bool // it is known why the model stopped
}

// take adds a piece of the answer.
func (r *geminiReply) take(data []byte) error {
	var c geminiChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return geminiRefusal(c.Error, data)
	}
	r.model = cmp.Or(c.Model, r.model)
	if c.Usage != nil {
		r.usage = geminiUsage(*c.Usage)
	}
	if c.Feedback != nil && c.Feedback.BlockReason != "" {
		r.refusal, r.ended = blockedPrompt(string(c.Feedback.BlockReason)), true
	}
	if len(c.Candidates) == 0 {
		r.empty = !r.begun
		return nil
	}
	r.begun, r.empty = true, false
	for _, raw := range c.Candidates[0].Content.Parts {
		if err := r.part(raw); err != nil {
			return err
		}
	}
	return r.stop(c.Candidates[0].FinishReason)
}

func (r *geminiReply) part(raw json.RawMessage) error {
	var p geminiSaid
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	if err := r.parts.add(raw, p); err != nil {
		return err
	}
	switch {
	case p.Call != nil:
		return r.argue(r.call(p.Call.ID, p.Call.Name), string(p.Call.Args))
	case p.Text == nil:
		return nil
	case p.Thought:
		return r.think(*p.Text)
	}
	return r.say(*p.Text)
}

// stop notes why the model stopped. A call that the API could not read fails the
// whole reply: the next try is likely to do better, and there is nothing that the
// model could be told, since the API does not say which call it was.
func (r *geminiReply) stop(reason genai.FinishReason) error {
	switch reason {
	case "", genai.FinishReasonUnspecified:
		return nil
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall:
		return r.garbage("a tool call that its own API cannot read (" + string(reason) + ")")
	}
	r.finish, r.ended = geminiFinish(reason), true
	return nil
}

// geminiFinish maps the words that differ to those of this package.
func geminiFinish(reason genai.FinishReason) string {
	switch reason {
	case genai.FinishReasonStop:
		return FinishStop
	case genai.FinishReasonMaxTokens:
		return FinishLength
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonImageSafety,
		genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return FinishRefusal
	}
	return string(reason)
}

func blockedPrompt(reason string) string {
	return fmt.Sprintf("The provider did not let the model see the conversation (%s).",
		strings.ToLower(strings.ReplaceAll(oneLine(reason), "_", " ")))
}

// end checks that the answer is whole: a stream has no other end than that of the
// connection.
func (r *geminiReply) end() error {
	switch {
	case r.refusal != "":
		return nil
	case r.empty:
		return r.garbage("no candidates in response")
	case !r.ended:
		return r.endedEarly()
	}
	return nil
}

// reply is what the answer came to.
func (r *geminiReply) reply() (Reply, error) {
	reply, err := r.draft.reply()
	if err != nil || reply.Finish == FinishRefusal {
		return reply, err
	}
	for _, c := range reply.Calls {
		if c.Problem != "" {
			return reply, nil // the API would not take the call back
		}
	}
	if content := r.parts.content(len(reply.Calls)); content != nil {
		reply.Native = &Native{Provider: r.Provider, Model: r.Model, Content: content}
	}
	return reply, nil
}

// geminiUsage counts thoughts as output, as the bill does. The input includes what
// was cached.
func geminiUsage(u genai.GenerateContentResponseUsageMetadata) contract.Usage {
	return contract.Usage{
		InputTokens:  int64(u.PromptTokenCount),
		OutputTokens: int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount),
		CachedTokens: int64(u.CachedContentTokenCount),
	}
}
