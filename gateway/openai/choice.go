package openai

import (
	"encoding/json"
	"slices"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// toolChoice is a tool_choice that is an object. In chat/completions the names are one level deeper than
// in responses.
type toolChoice struct {
	named
	Tools        []named `json:"tools"`
	AllowedTools struct {
		Tools []named `json:"tools"`
	} `json:"allowed_tools"`
}

type named struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

func (n named) name() string {
	if n.Function.Name != "" {
		return n.Function.Name
	}
	return n.Name
}

// Choose returns the client's tools that a tool_choice leaves: none with "none", the named one, or
// the allowed ones; the others are not offered, so that the model cannot call them. It has no effect
// on the tools of the agent, and nothing makes a model call one.
func Choose(raw json.RawMessage, tools []contract.Tool) ([]contract.Tool, error) {
	var word string
	var object toolChoice
	switch {
	case len(raw) == 0 || json.Unmarshal(raw, &word) == nil:
	case json.Unmarshal(raw, &object) != nil:
		return nil, service.Errorf(contract.KindInvalid, "tool_choice: expected a word or an object")
	}
	switch {
	case word == "none":
		return nil, nil
	case word == "" || word == "auto" || word == "required":
	default:
		return nil, service.Errorf(contract.KindInvalid, "tool_choice: expected none, auto, required or an object, not %s", service.Printable(word))
	}
	switch object.Type {
	case "function":
		return only(tools, []named{object.named})
	case "allowed_tools":
		return only(tools, append(object.Tools, object.AllowedTools.Tools...))
	case "", "mcp":
		return tools, nil
	}
	return nil, service.Errorf(contract.KindInvalid, "tool_choice: expected the type function, allowed_tools or mcp, not %s", service.Printable(object.Type))
}

// only returns the tools with the names of functions. Names of other tools are the agent's.
func only(tools []contract.Tool, allowed []named) (out []contract.Tool, err error) {
	for _, a := range allowed {
		if a.Type != "function" {
			continue
		}
		n := slices.IndexFunc(tools, func(t contract.Tool) bool { return t.Name == a.name() })
		if n < 0 {
			return nil, service.Errorf(contract.KindInvalid, "tool_choice: there is no function %s in tools", service.Printable(a.name()))
		}
		if !slices.ContainsFunc(out, func(t contract.Tool) bool { return t.Name == a.name() }) {
			out = append(out, tools[n])
		}
	}
	return out, nil
}
