package chat

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/workflows/contract"
)

// completion is a reply that is not streamed.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

type choice struct {
	Index        int     `json:"index"`
	Message      answer  `json:"message"`
	Logprobs     *string `json:"logprobs"` // null
	FinishReason string  `json:"finish_reason"`
}

type answer struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Refusal   *string    `json:"refusal"` // null
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	// Index is there in chunks only.
	Index    *int     `json:"index,omitempty"`
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
	Details          struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func usageOf(u contract.Usage) usage {
	out := usage{PromptTokens: u.InputTokens, CompletionTokens: u.OutputTokens, TotalTokens: u.InputTokens + u.OutputTokens}
	out.Details.CachedTokens = u.CachedTokens
	return out
}

// The reasons for which a reply ends.
const (
	finishStop   = "stop"
	finishLength = "length" // the model's limit
	finishCalls  = "tool_calls"
)

// callsOf returns the calls that the client executes, and why the reply ends.
func callsOf(r exchange.Reply, indexed bool) (calls []toolCall, finish string) {
	if finish = finishStop; r.CutOff() {
		finish = finishLength
	}
	for n, p := range r.Calls() {
		finish = finishCalls
		c := toolCall{ID: openai.CallID(p), Type: "function", Function: function{p.ToolName, arguments(p)}}
		if indexed {
			c.Index = &n
		}
		calls = append(calls, c)
	}
	return calls, finish
}

// newID returns the ID of a completion.
func newID() string { return "chatcmpl-" + strings.ReplaceAll(uuid.NewString(), "-", "") }

// arguments returns the arguments of a call as OpenAI has them: JSON in a string.
func arguments(p contract.PendingApproval) string {
	return cmp.Or(string(p.ToolArgs.Raw), "{}")
}

// answer replies with a whole reply, or with a notice that the message was not sent.
func (r *run) answer(reply exchange.Reply) error {
	text, err := r.talk.Answer(reply)
	if err != nil {
		return err
	}
	if r.in.Live {
		w := r.newWriter()
		if err := w.Tell(text); err != nil {
			return err
		}
		return w.finish(reply)
	}
	calls, finish := callsOf(reply, false)
	out := completion{ID: newID(), Object: "chat.completion", Created: r.Talk.Now().Unix(), Model: r.in.Target.Name, Usage: usageOf(reply.Usage)}
	out.Choices = []choice{{Message: answer{Role: "assistant", ToolCalls: calls}, FinishReason: finish}}
	if text != "" || len(calls) == 0 {
		out.Choices[0].Message.Content = &text
	}
	return r.c.JSON(http.StatusOK, out)
}
