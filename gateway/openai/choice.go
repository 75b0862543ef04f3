package openai

import (
	"cmp"
	"encoding/json"
	"slices"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// Demand has the members of a request that are about the calls of the model.
type Demand struct {
	ToolChoice        json.RawMessage `json:"tool_choice,omitempty"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls,omitempty"`
}

// toolChoice is a tool_choice that is an object. In chat/completions the mode and the names are one
// level deeper than in responses.
type toolChoice struct {
	named
	allowed
	AllowedTools allowed `json:"allowed_tools"`
}

type allowed struct {
	Mode  string  `json:"mode"`
	Tools []named `json:"tools"`
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

// Choose returns the tools of the client that a request leaves, and what it demands of the calls.
//
//	tool_choice          offered        the first reply calls
//	auto, or nothing     all            what the model likes
//	none                 none           a tool of the agent, or none
//	required             all            one of them
//	a function           all            that one
//	allowed_tools        the listed     with the mode required: one of them
//
// It is about the tools of the client only. Those of the agent stay on offer, are called as its model
// decides, and cannot be demanded, also if the client gives one of its own the same name: mcp is an error,
// and so is an entry mcp of allowed tools of which one is required. Other entries mcp say what is so anyway.
// Types that tools cannot have here, such as custom and web_search, are errors too.
func (d Demand) Choose(tools []contract.Tool) ([]contract.Tool, toolchoice.Choice, error) {
	choice := toolchoice.Choice{Single: d.ParallelToolCalls != nil && !*d.ParallelToolCalls}
	left, must, err := d.choose(tools)
	if err != nil {
		return nil, choice, err
	}
	for _, t := range must {
		choice.Call = append(choice.Call, t.Name)
	}
	return left, choice, nil
}

// choose returns the tools that are left, and those of which the first reply must call one.
func (d Demand) choose(tools []contract.Tool) (left, must []contract.Tool, err error) {
	var word string
	var object toolChoice
	switch {
	case len(d.ToolChoice) == 0 || json.Unmarshal(d.ToolChoice, &word) == nil:
		return byWord(word, tools)
	case json.Unmarshal(d.ToolChoice, &object) != nil:
		return nil, nil, badChoice("expected a word or an object")
	}
	switch object.Type {
	case "function":
		must, err = only(tools, []named{object.named})
		return tools, must, err
	case "allowed_tools":
		return object.leave(tools)
	case "mcp":
		return nil, nil, badChoice("no tool of the agent can be demanded: its model calls them as it decides. Expected none, auto, required, a function of tools, or allowed_tools")
	}
	return nil, nil, badChoice("expected the type function or allowed_tools, not %s", service.Printable(object.Type))
}

func byWord(word string, tools []contract.Tool) (left, must []contract.Tool, err error) {
	switch word {
	case "", "auto":
		return tools, nil, nil
	case "none":
		return nil, nil, nil
	case "required":
		return tools, tools, oneOf(tools)
	}
	return nil, nil, badChoice("expected none, auto, required or an object, not %s", service.Printable(word))
}

// leave returns the allowed tools, of which the mode may require one.
func (c toolChoice) leave(tools []contract.Tool) (left, must []contract.Tool, err error) {
	list := append(c.Tools, c.AllowedTools.Tools...)
	mcp := func(a named) bool { return a.Type == "mcp" }
	for _, a := range list {
		if a.Type != "function" && !mcp(a) {
			return nil, nil, badChoice("expected functions and mcp in allowed_tools, not %s", service.Printable(a.Type))
		}
	}
	if left, err = only(tools, list); err != nil {
		return nil, nil, err
	}
	switch mode := cmp.Or(c.Mode, c.AllowedTools.Mode); mode {
	case "", "auto":
		return left, nil, nil
	case "none":
		return nil, nil, nil
	case "required":
		if slices.ContainsFunc(list, mcp) {
			return nil, nil, badChoice("required is about functions: no tool of the agent can be demanded. Leave out the mcp entries, which are allowed in any case, or send the mode auto")
		}
		return left, left, oneOf(left)
	default:
		return nil, nil, badChoice("expected the mode none, auto or required, not %s", service.Printable(mode))
	}
}

// oneOf fails if there is no tool of which one could be required.
func oneOf(tools []contract.Tool) error {
	if len(tools) == 0 {
		return badChoice("required needs a function in tools: the tools of the agent are called as its model decides")
	}
	return nil
}

// only returns the tools with the names of functions. Names of other tools are the agent's.
func only(tools []contract.Tool, list []named) (out []contract.Tool, err error) {
	for _, a := range list {
		if a.Type != "function" {
			continue
		}
		n := slices.IndexFunc(tools, func(t contract.Tool) bool { return t.Name == a.name() })
		if n < 0 {
			return nil, badChoice("there is no function %s in tools", service.Printable(a.name()))
		}
		if !slices.ContainsFunc(out, func(t contract.Tool) bool { return t.Name == a.name() }) {
			out = append(out, tools[n])
		}
	}
	return out, nil
}

func badChoice(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, "tool_choice: "+format, args...)
}
