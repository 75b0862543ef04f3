package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// gemini is the format of Google's Gemini API.
type gemini struct{}

type generated struct {
	Candidates []candidate `json:"candidates"`
	Usage      tokens      `json:"usageMetadata"`
	Model      string      `json:"modelVersion"`
	ResponseID string      `json:"responseId"`
}

type candidate struct {
	Content geminiContent `json:"content"`
	Finish  string        `json:"finishReason,omitempty"`
	Index   int           `json:"index"`
}

type geminiContent struct {
	Parts []map[string]any `json:"parts"`
	Role  string           `json:"role"`
}

type tokens struct {
	Prompt     int64 `json:"promptTokenCount"`
	Candidates int64 `json:"candidatesTokenCount,omitempty"`
	Total      int64 `json:"totalTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount,omitempty"`
	Thoughts   int64 `json:"thoughtsTokenCount,omitempty"`
}

// geminiSignature is the signature of a reply with thoughts.
var geminiSignature = base64.StdEncoding.EncodeToString([]byte("what the model thought?>"))

func (gemini) speaks(path string) bool {
	return strings.HasSuffix(path, ":generateContent") || strings.HasSuffix(path, ":streamGenerateContent")
}

func (gemini) key(r *http.Request) string { return r.Header.Get("X-Goog-Api-Key") }

func (gemini) refusal(e *apiError) string {
	type status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	}
	return encode(map[string]status{"error": {e.Status, e.Message, geminiStatus(e.Status)}})
}

// geminiStatus is the name of an HTTP status in google.rpc.Code.
func geminiStatus(code int) string {
	switch code {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusInternalServerError:
		return "INTERNAL"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	return "UNKNOWN"
}

func (gemini) streams(r *http.Request, _ []byte) bool {
	return strings.HasSuffix(r.URL.Path, ":streamGenerateContent") && r.URL.Query().Get("alt") == "sse"
}

func (gemini) whole(s outcome) string {
	var parts []map[string]any
	for _, p := range geminiParts(s) {
		parts = append(parts, p...)
	}
	return encode(s.generated(parts, geminiFinish(s.finish)))
}

func (gemini) events(s outcome) []string {
	var out []string
	for _, parts := range geminiParts(s) {
		out = append(out, "data: "+encode(s.generated(parts, ""))+"\r\n\r\n")
	}
	last := map[string]any{"text": ""}
	if s.thoughts != "" && len(s.calls) == 0 {
		last["thoughtSignature"] = geminiSignature
	}
	return append(out, "data: "+encode(s.generated([]map[string]any{last}, geminiFinish(s.finish)))+"\r\n\r\n")
}

func (s outcome) generated(parts []map[string]any, finish string) generated {
	g := generated{
		Candidates: []candidate{{Content: geminiContent{Parts: parts, Role: "model"}, Finish: finish}},
		Usage:      tokens{Prompt: s.usage.InputTokens, Total: s.usage.InputTokens, Cached: s.usage.CachedTokens},
		Model:      "llmtest-1", ResponseID: "llmtest",
	}
	if finish == "" {
		return g
	}
	if s.thoughts != "" {
		g.Usage.Thoughts = s.usage.OutputTokens / 2
	}
	g.Usage.Candidates = s.usage.OutputTokens - g.Usage.Thoughts
	g.Usage.Total += s.usage.OutputTokens
	return g
}

// geminiParts returns the parts of a reply as a stream sends them: thoughts and text in
// pieces, calls whole. A reply with thoughts signs its first call.
func geminiParts(s outcome) [][]map[string]any {
	var out [][]map[string]any
	add := func(part map[string]any) { out = append(out, []map[string]any{part}) }
	for _, piece := range pieces(s.thoughts) {
		add(map[string]any{"text": piece, "thought": true})
	}
	for _, piece := range pieces(s.text + s.refusal) {
		add(map[string]any{"text": piece})
	}
	for i, c := range s.calls {
		part := map[string]any{"functionCall": geminiCall(c)}
		if i == 0 && s.thoughts != "" {
			part["thoughtSignature"] = geminiSignature
		}
		add(part)
	}
	return out
}

// geminiCall returns a call. Arguments that are not JSON are sent as a string.
func geminiCall(c llm.Call) map[string]any {
	out := map[string]any{"name": c.Name}
	if c.ID != "" {
		out["id"] = c.ID
	}
	switch {
	case json.Valid(c.Arguments):
		out["args"] = c.Arguments
	case len(c.Arguments) > 0:
		out["args"] = string(c.Arguments)
	}
	return out
}

func geminiFinish(reason string) string {
	switch reason {
	case llm.FinishStop, llm.FinishToolCalls:
		return "STOP"
	case llm.FinishLength:
		return "MAX_TOKENS"
	case llm.FinishRefusal:
		return "SAFETY"
	}
	return reason
}
