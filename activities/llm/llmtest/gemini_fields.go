package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// geminiFields are the fields that the API knows, by message
// (ai.google.dev/api/generate-content). A colon is followed by the message type of the
// field, with [] for a list and {} for a map.
var geminiFields = map[string]string{
	"request": `contents:[]content systemInstruction:content tools:[]tool toolConfig:choice safetySettings
		generationConfig:config cachedContent`,
	"content": `parts:[]part role`,
	"part": `text thought thoughtSignature inlineData:blob functionCall:call functionResponse:response fileData
		executableCode codeExecutionResult videoMetadata partMetadata`,
	"blob":     `mimeType data`,
	"call":     `id name args`,
	"response": `id name response parts willContinue scheduling`,
	"tool":     `functionDeclarations:[]function googleSearch codeExecution urlContext`,
	"choice":   `functionCallingConfig:calling retrievalConfig includeServerSideToolInvocations`,
	"calling":  `mode allowedFunctionNames`,
	"function": `name description behavior parameters:schema parametersJsonSchema response:schema responseJsonSchema`,
	"schema": `type format title description nullable enum maxItems minItems properties:{}schema required
		minProperties maxProperties minLength maxLength pattern example anyOf:[]schema propertyOrdering default
		items:schema minimum maximum`,
	"config": `stopSequences responseMimeType responseSchema:schema responseJsonSchema responseModalities
		candidateCount maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs
		logprobs enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution`,
}

// unknownFields returns an error that lists the fields that the API does not know.
func unknownFields(message, path string, raw json.RawMessage) *apiError {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return invalid("", "Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta), %.40s", path, raw)
	}
	known := strings.Fields(geminiFields[message])
	for _, name := range sortedKeys(fields) {
		i := slices.IndexFunc(known, func(k string) bool { return k == name || strings.HasPrefix(k, name+":") })
		if i < 0 {
			return invalid("", "Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, atPath(path))
		}
		if _, inner, ok := strings.Cut(known[i], ":"); ok {
			if e := unknownInside(inner, strings.TrimPrefix(path+"."+name, "."), fields[name]); e != nil {
				return e
			}
		}
	}
	return nil
}

func unknownInside(inner, path string, raw json.RawMessage) *apiError {
	var list []json.RawMessage
	var table map[string]json.RawMessage
	if message, ok := strings.CutPrefix(inner, "[]"); ok {
		if json.Unmarshal(raw, &list) != nil {
			return invalid("", "Invalid value at '%s' (repeated), %.40s", path, raw)
		}
		for i, item := range list {
			if e := unknownFields(message, fmt.Sprintf("%s[%d]", path, i), item); e != nil {
				return e
			}
		}
		return nil
	}
	message, ok := strings.CutPrefix(inner, "{}")
	if !ok {
		return unknownFields(message, path, raw)
	}
	if json.Unmarshal(raw, &table) != nil {
		return invalid("", "Invalid value at '%s' (map), %.40s", path, raw)
	}
	for _, name := range sortedKeys(table) {
		if e := unknownFields(message, fmt.Sprintf("%s[%s]", path, name), table[name]); e != nil {
			return e
		}
	}
	return nil
}

func atPath(path string) string {
	if path == "" {
		return ""
	}
	return " at '" + path + "'"
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
