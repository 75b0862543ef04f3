package modality_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/contract/modelname"
)

func of(name string) modality.Set {
	p, model, err := modelname.Parse(name)
	if err != nil {
		return modality.Set{}
	}
	return modality.Of(p, model)
}

func TestModelsThatSeeTakePDFsWithFewExceptions(t *testing.T) {
	both, image := modality.Set{Images: true, PDF: true}, modality.Set{Images: true}
	for name, want := range map[string]modality.Set{
		"gpt-4o": both, "gpt-4o-mini": both, "openai:gpt-5.1": both, "o4-mini": both, "openai:o1-mini": {}, "openai:gpt-4": {}, "openai:gpt-4o-audio-preview": {},
		"claude-sonnet-4-5": both, "claude-3-5-sonnet-latest": both, "claude-3.7-sonnet": both, "claude-4-sonnet": both, "claude-haiku-4-5": both,
		"claude-3-opus-20240229": image, "claude-3-haiku-20240307": image, "claude-2.1": {},
		"gemini-2.5-flash": both, "google:models/gemini-3-pro-preview": both, "gemini-2.5-flash-preview-tts": {}, "google:gemma-3-27b-it": {},
		"openrouter:openai/gpt-4o": {}, "ollama:llava": {}, "mistral:pixtral-12b": {}, contract.DemoModel: {}, "": {},
	} {
		if got := of(name); got != want {
			t.Errorf("%s takes %+v, want %+v", name, got, want)
		}
	}
}

func TestWhatIsDeclaredGoesBeforeWhatIsKnown(t *testing.T) {
	yes, no := true, false
	if got := (modality.Set{}).With(&yes, &yes); got != (modality.Set{Images: true, PDF: true}) {
		t.Errorf("%+v", got)
	}
	if got := of("gpt-4o").With(nil, &no); got != (modality.Set{Images: true}) {
		t.Errorf("%+v", got)
	}
}

func TestAPDFIsRefusedIfNoModelThatMayReadItTakesIt(t *testing.T) {
	tree := &contract.Node{Type: contract.NodeSequential, Nodes: []contract.Node{
		{Type: contract.NodeA2A}, {Type: contract.NodeLoop, Nodes: []contract.Node{{Type: contract.NodeLLM, Model: "gpt-4o"}}},
	}}
	blind := &contract.Node{Type: contract.NodeSequential, Nodes: []contract.Node{{Type: contract.NodeA2A, Model: "gpt-4o"}, {Type: contract.NodeLLM, Model: "ollama:llava"}}}
	for name, c := range map[string]struct {
		agent  contract.Agent
		chosen string
		kind   string
		want   string // the beginning of the problem
	}{
		"the agent's model takes it":      {contract.Agent{Model: "gpt-4o"}, "", modality.PDF, ""},
		"it does not":                     {contract.Agent{Model: contract.DemoModel}, "", modality.PDF, "no model of this agent takes PDFs"},
		"a node deep in the tree does":    {contract.Agent{Model: contract.DemoModel, Tree: tree}, "", modality.PDF, ""},
		"an agent elsewhere is no reader": {contract.Agent{Model: "gpt-4o", Tree: blind}, "", modality.PDF, "no model of this agent takes PDFs"},
		"one that people may choose does": {contract.Agent{Model: contract.DemoModel, Choices: []string{"gpt-4o"}}, "", modality.PDF, ""},
		"the one that is chosen does":     {contract.Agent{Model: contract.DemoModel, Choices: []string{"gpt-4o"}}, "gpt-4o", modality.PDF, ""},
		"the one that is chosen does not": {contract.Agent{Model: "gpt-4o", Choices: []string{"ollama:x"}}, "ollama:x", modality.PDF, `the model "ollama:x" takes no PDFs`},
		"images are shown or mentioned":   {contract.Agent{Model: contract.DemoModel}, "", "image/png", ""},
	} {
		got := modality.Agent{Agent: c.agent, Of: of}.Problem(c.chosen, c.kind)
		if (got == "") != (c.want == "") || len(got) < len(c.want) || got[:len(c.want)] != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if (modality.Agent{Agent: contract.Agent{Model: "gpt-4o"}}).Problem("", modality.PDF) == "" {
		t.Error("an agent of whose models nothing is known takes a PDF")
	}
}

func TestAPDFIsKnownByItsFirstBytes(t *testing.T) {
	for data, want := range map[string]bool{"%PDF-1.7\n": true, "%PDF-": true, "%PDF": false, "": false, " %PDF-1.7": false, "PK\x03\x04": false} {
		if modality.IsPDF([]byte(data)) != want {
			t.Errorf("%q: want %t", data, want)
		}
	}
}
