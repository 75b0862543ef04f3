package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// claudeTools returns the tools on offer. The last one is marked, so that the provider finds
// all of them in its cache, whatever follows.
func claudeTools(tools []contract.Tool, names llm.Names) ([]anthropic.ToolUnionParam, error) {
	var out []anthropic.ToolUnionParam
	for _, tool := range tools {
		schema, err := inputSchema(tool.InputSchema)
		if err != nil {
			return nil, &llm.Error{
				Kind:    contract.KindModelRequest,
				Message: llm.OneLine(fmt.Sprintf("the schema of tool %s is not a JSON object", tool.Name)),
			}
		}
		t := &anthropic.ToolParam{Name: names.Wire(tool.Name), InputSchema: param.Override[anthropic.ToolInputSchemaParam](schema)}
		if tool.Description != "" {
			t.Description = param.NewOpt(tool.Description)
		}
		out = append(out, anthropic.ToolUnionParam{OfTool: t})
	}
	if n := len(out); n > 0 {
		out[n-1].OfTool.CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	return out, nil
}

// inputSchema returns a schema unchanged except for two requirements of the API: the type is
// object, and there is no anyOf, oneOf or allOf at the top. The properties of their parts
// become properties of the schema.
func inputSchema(schema json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &fields); err != nil {
			return nil, err
		}
	}
	properties := map[string]json.RawMessage{}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		var parts []struct{ Properties map[string]json.RawMessage }
		_ = json.Unmarshal(fields[key], &parts) // no parts if it is not a list of schemas
		for _, part := range parts {
			addMissing(properties, part.Properties)
		}
		delete(fields, key)
	}
	out := map[string]json.RawMessage{}
	for name, value := range fields {
		if string(value) != "null" {
			out[name] = value
		}
	}
	out["type"] = json.RawMessage(`"object"`)
	if len(properties) > 0 {
		own := map[string]json.RawMessage{}
		_ = json.Unmarshal(out["properties"], &own)
		addMissing(own, properties)
		out["properties"] = mustRaw(own)
	}
	return mustRaw(out), nil
}

func addMissing(to, from map[string]json.RawMessage) {
	for name, value := range from {
		if _, ok := to[name]; !ok {
			to[name] = value
		}
	}
}

// mustRaw encodes a map of values that are JSON already.
func mustRaw(v map[string]json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
