package modality

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
)

// KindUnsupported is the kind of failure of a file that nobody can read.
const KindUnsupported contract.Kind = "unsupported_media_type"

// Agent is an agent with what its models take.
type Agent struct {
	contract.Agent
	// Of returns what a model takes, by the name that nodes use. Nil: nothing.
	Of func(model string) Set
}

// Takes returns what the models take of which one may read a message: those of the agent's tree,
// with the one that the message names, or else also with those that people may choose.
func (a Agent) Takes(chosen string) Set {
	if a.Of == nil {
		return Set{}
	}
	out := a.inTree(choice.Agent(a.Agent, chosen).Root())
	if chosen == "" {
		for _, model := range a.Choices {
			out = out.union(a.Of(model))
		}
	}
	return out
}

func (a Agent) inTree(n contract.Node) (out Set) {
	if n.Type == contract.NodeLLM {
		out = a.Of(n.Model)
	}
	for _, child := range n.Nodes {
		out = out.union(a.inTree(child))
	}
	return out
}

// Problem returns why a file of a media type cannot come with a message, or "". chosen is the model
// that the message names, or "". To models that see no images, texts mention them, and so none is
// refused.
func (a Agent) Problem(chosen, mediaType string) string {
	if mediaType != PDF || a.Takes(chosen).PDF {
		return ""
	}
	who := "no model of this agent takes PDFs"
	if chosen != "" {
		who = fmt.Sprintf("the model %.60q takes no PDFs", chosen)
	}
	return who + "; those of OpenAI, Anthropic and Google do, and others whose entry in models says pdf: true"
}
