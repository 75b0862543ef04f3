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

// chunk is a piece of an answer, or a whole one. There is one candidate:
// none asks for more.
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

// answer is a reply that is being made.
type answer struct {
	*llm.Draft
	parts   replyParts
	empty   bool // there were pieces, but none with a candidate
	started bool // there was a candidate
	ended   bool // it is known why the model stopped
}

// take adds a piece of the answer.
func (r *answer) take(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return reported(c.Error, data)
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

// stop notes why the model stopped. A call that the API could not read fails the
// whole reply: the next try is likely to do better, and there is nothing that the
// model could be told, since the API does not say which call it was.
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

// finish maps the words that differ to those of llm.
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

// end checks that the answer is whole: a stream has no other end than that of the
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

// reply is what the answer came to.
func (r *answer) reply() (llm.Reply, error) {
	reply, err := r.Draft.Reply()
	if err != nil || reply.Finish == llm.FinishRefusal {
		return reply, err
	}
	for _, c := range reply.Calls {
		if c.Problem != "" {
			return reply, nil // the API would not take the call back
		}
	}
	if content := r.parts.content(len(reply.Calls)); content != nil {
		reply.Native = &llm.Native{Provider: r.Provider, Model: r.Model, Content: content}
	}
	return reply, nil
}

// usage counts thoughts as output, as the bill does. The input includes what
// was cached.
func usage(u genai.GenerateContentResponseUsageMetadata) contract.Usage {
	return contract.Usage{
		InputTokens:  int64(u.PromptTokenCount),
		OutputTokens: int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount),
		CachedTokens: int64(u.CachedContentTokenCount),
	}
}
