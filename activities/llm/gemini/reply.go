package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// chunk is a piece of an answer, or a whole one. It has at most one candidate, because no
// request asks for more.
type chunk struct {
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

// replyPart is a part of a reply.
type replyPart struct {
	Text      *string       `json:"text"`
	Thought   bool          `json:"thought"`
	Call      *functionCall `json:"functionCall"`
	Signature string        `json:"thoughtSignature"`
}

// answer collects a reply.
type answer struct {
	*llm.Draft
	parts   replyParts
	empty   bool // pieces arrived, but none with a candidate
	started bool // a candidate arrived
	ended   bool // the finish reason arrived
}

// take adds a piece of the answer.
func (r *answer) take(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return errorInBody(c.Error, data)
	}
	r.Author = cmp.Or(c.Model, r.Author)
	if c.Usage != nil {
		r.Usage = usage(*c.Usage)
	}
	if c.Feedback != nil && c.Feedback.BlockReason != "" {
		r.Refusal, r.ended = blockedPrompt(string(c.Feedback.BlockReason)), true
	}
	if len(c.Candidates) == 0 {
		r.empty = !r.started
		return nil
	}
	r.started, r.empty = true, false
	for _, raw := range c.Candidates[0].Content.Parts {
		if err := r.part(raw); err != nil {
			return err
		}
	}
	return r.stop(c.Candidates[0].FinishReason)
}

func (r *answer) part(raw json.RawMessage) error {
	var p replyPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	if err := r.parts.add(raw, p); err != nil {
		return err
	}
	switch {
	case p.Call != nil:
		return r.AddArguments(r.AddCall(p.Call.ID, p.Call.Name), string(p.Call.Args))
	case p.Text == nil:
		return nil
	case p.Thought:
		return r.AddReasoning(*p.Text)
	}
	return r.AddText(*p.Text)
}

// stop stores the finish reason. A call that the API could not parse fails the whole reply:
// the next attempt is likely to succeed, and the API does not say which call it was, so no
// result can be reported to the model.
func (r *answer) stop(reason genai.FinishReason) error {
	switch reason {
	case "", genai.FinishReasonUnspecified:
		return nil
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall:
		return r.Garbage("a tool call that its own API cannot read (" + string(reason) + ")")
	}
	r.Finish, r.ended = finish(reason), true
	return nil
}

// finish maps a finish reason to the constant of llm if its word differs.
func finish(reason genai.FinishReason) string {
	switch reason {
	case genai.FinishReasonStop:
		return llm.FinishStop
	case genai.FinishReasonMaxTokens:
		return llm.FinishLength
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonImageSafety,
		genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return llm.FinishRefusal
	}
	return string(reason)
}

func blockedPrompt(reason string) string {
	return fmt.Sprintf("The provider did not let the model see the conversation (%s).",
		strings.ToLower(strings.ReplaceAll(llm.OneLine(reason), "_", " ")))
}

// end checks that the answer is complete: a stream has no end marker besides the end of the
// connection.
func (r *answer) end() error {
	switch {
	case r.Refusal != "":
		return nil
	case r.empty:
		return r.Garbage("no candidates in response")
	case !r.ended:
		return r.EndedEarly()
	}
	return nil
}

// reply returns the reply after the end of the answer.
func (r *answer) reply() (llm.Reply, error) {
	reply, err := r.Draft.Reply()
	if err != nil || reply.Finish == llm.FinishRefusal {
		return reply, err
	}
	for _, c := range reply.Calls {
		if c.Problem != "" {
			return reply, nil // the API would refuse the call in the next request
		}
	}
	if content := r.parts.content(len(reply.Calls)); content != nil {
		reply.Native = &llm.Native{Provider: r.Provider, Model: r.Model, Content: content}
	}
	return reply, nil
}

// usage counts thoughts as output, as the bill does. The input includes cached tokens.
func usage(u genai.GenerateContentResponseUsageMetadata) contract.Usage {
	return contract.Usage{
		InputTokens:  int64(u.PromptTokenCount),
		OutputTokens: int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount),
		CachedTokens: int64(u.CachedContentTokenCount),
	}
}
