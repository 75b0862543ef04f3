package gemini

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"google.golang.org/genai"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
)

const (
	roleUser  = "user"
	roleModel = "model"

	// openingText is the first content of a conversation that does not begin with a user's
	// text: the API requires one.
	openingText = "(The conversation begins here.)"

	// missingSignature replaces the signature of calls that this model did not sign, such as
	// those of other models (ai.google.dev/gemini-api/docs/thought-signatures).
	missingSignature = "skip_thought_signature_validator"
)

// signingModels matches the models that refuse a reply whose first call has no signature.
var signingModels = regexp.MustCompile(`^(models/)?gemini-([3-9]|[1-9][0-9]|(flash|flash-lite|pro)-latest)`)

// contents returns the conversation. The results of a reply's calls are one user content
// directly after it; a user's text is another content.
func (g gemini) contents(turns []llm.Turn) []content {
	var out []content
	for _, t := range turns {
		if t.Role == contract.RoleUser {
			out = append(out, content{roleUser, userParts(t)})
			continue
		}
		parts, calls := g.replyContent(t)
		switch n := len(out); {
		case n > 0 && out[n-1].Role == roleModel:
			out[n-1].Parts = append(out[n-1].Parts, parts...)
		case n == 0:
			out = append(out, content{roleUser, []any{requestPart{Text: openingText}}}, content{roleModel, parts})
		default:
			out = append(out, content{roleModel, parts})
		}
		if len(calls) > 0 {
			out = append(out, content{roleUser, resultParts(calls)})
		}
	}
	return out
}

// pastAnswer is a call as it appears in the reply, with its result.
type pastAnswer struct {
	functionCall
	past llm.PastCall
}

// replyContent returns the parts of a reply, in the model's own form if it is known, and its
// calls. Only the model's own form contains call IDs: others may be made up, and the API pairs
// results without IDs by their order.
func (g gemini) replyContent(t llm.Turn) ([]any, []pastAnswer) {
	if parts, calls, ok := g.nativeReply(t); ok {
		return parts, calls
	}
	var parts []any
	var calls []pastAnswer
	if t.Text != "" {
		parts = append(parts, requestPart{Text: t.Text})
	}
	for i, c := range t.Calls {
		call := functionCall{Name: g.names.Wire(c.Name), Args: c.Arguments}
		part := requestPart{Call: &call}
		if i == 0 && signingModels.MatchString(g.Model) {
			part.Signature = missingSignature
		}
		parts, calls = append(parts, part), append(calls, pastAnswer{call, c})
	}
	return parts, calls
}

// nativeReply returns a reply in the model's own form. ok is false unless its calls are those
// of the turn.
func (g gemini) nativeReply(t llm.Turn) (parts []any, calls []pastAnswer, ok bool) {
	native := g.NativeOf(t)
	var content struct{ Parts []json.RawMessage }
	if native == nil || json.Unmarshal(native.Content, &content) != nil {
		return nil, nil, false
	}
	left := slices.Clone(t.Calls)
	for _, raw := range content.Parts {
		var p replyPart
		if json.Unmarshal(raw, &p) != nil {
			return nil, nil, false
		}
		parts = append(parts, raw)
		if p.Call == nil {
			continue
		}
		i := g.index(left, *p.Call)
		if i < 0 {
			return nil, nil, false
		}
		calls = append(calls, pastAnswer{*p.Call, left[i]})
		left = slices.Delete(left, i, i+1)
	}
	return parts, calls, len(parts) > 0 && len(left) == 0
}

// index finds a call among the remaining ones: by its ID, else by its name.
func (g gemini) index(left []llm.PastCall, call functionCall) int {
	if i := slices.IndexFunc(left, func(c llm.PastCall) bool { return call.ID != "" && c.ID == call.ID }); i >= 0 {
		return i
	}
	return slices.IndexFunc(left, func(c llm.PastCall) bool {
		return g.names.Wire(c.Name) == call.Name || c.Name == g.names.Own(call.Name)
	})
}

// userParts returns a user's documents, text and images.
func userParts(t llm.Turn) []any {
	text := t.Text
	for _, m := range t.Media {
		if llm.ImageType(m.Data) == unseenType {
			text = llm.Join(text, fmt.Sprintf("[file %s, %d bytes: cannot be read by the model]", unseenType, len(m.Data)))
		}
	}
	parts, images := pdfParts(t.Media), imageParts(t.Media)
	if text != "" || len(parts)+len(images) == 0 {
		parts = append(parts, requestPart{Text: text})
	}
	return append(parts, images...)
}

// pdfParts returns the documents among media, which come before the text
// (ai.google.dev/gemini-api/docs/document-processing).
func pdfParts(media []llm.Media) []any {
	var out []any
	for _, m := range llm.PDFs(media) {
		out = append(out, requestPart{Data: &genai.Blob{MIMEType: modality.PDF, Data: m.Data}})
	}
	return out
}

// unseenType is an image type that the API refuses
// (ai.google.dev/gemini-api/docs/image-understanding).
const unseenType = "image/gif"

// imageParts returns the images among media that the API accepts.
func imageParts(media []llm.Media) []any {
	var out []any
	for _, m := range media {
		if kind := llm.ImageType(m.Data); kind != "" && kind != unseenType {
			out = append(out, requestPart{Data: &genai.Blob{MIMEType: kind, Data: m.Data}})
		}
	}
	return out
}

// resultParts returns the results of all calls of a reply, followed by their images, each
// call's under a line that names it.
func resultParts(calls []pastAnswer) []any {
	var results, images []any
	for _, c := range calls {
		results = append(results, requestPart{Result: &genai.FunctionResponse{ID: c.ID, Name: c.Name, Response: response(c.past)}})
		if shown := imageParts(c.past.Media); len(shown) > 0 {
			images = append(images, requestPart{Text: fmt.Sprintf("Images in the result of %s:", c.Name)})
			images = append(images, shown...)
		}
	}
	return append(results, images...)
}

// manyDigits matches a number that may not fit a float64, which is how the API stores the
// numbers of results.
var manyDigits = regexp.MustCompile(`[0-9]{16}`)

// response returns a result as the JSON object that the API requires: the tool's own object,
// or one with its text. The API reserves the fields output and error.
func response(c llm.PastCall) map[string]any {
	if c.IsError {
		return map[string]any{"error": c.Result}
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(c.Result), &fields) == nil && len(fields) > 0 &&
		fields["output"] == nil && fields["error"] == nil && !manyDigits.MatchString(c.Result) {
		out := map[string]any{}
		for name, value := range fields {
			out[name] = value
		}
		return out
	}
	return map[string]any{"output": c.Result}
}
