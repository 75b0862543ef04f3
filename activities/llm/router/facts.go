package router

import (
	"cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/contract/modelname"
)

// entry finds the entry of a name. A name without an entry is parsed by modelname.Parse.
func (r *Router) entry(name string) (llm.Entry, error) {
	for _, e := range r.options.Models {
		if e.Name == name {
			return e, nil
		}
	}
	p, model, err := modelname.Parse(name)
	if err != nil {
		return llm.Entry{}, badRequest("%v", err)
	}
	return llm.Entry{Name: name, Provider: p, Model: model}, nil
}

// takes returns what a model takes, by what its entry declares and what is known of it.
func takes(e llm.Entry) modality.Set { return modality.Of(e.Provider, e.Model).With(e.Images, e.PDF) }

// Facts returns what is known of a model, by the name that requests use.
func (r *Router) Facts(name string) llm.Facts {
	e, err := r.entry(name)
	if err != nil {
		return llm.Facts{}
	}
	f := llm.Facts{Takes: takes(e), Window: e.ContextWindow, Reply: e.MaxTokens}
	f.TotalTimeout = cmp.Or(e.TotalTimeout, 2*cmp.Or(e.Timeout, r.options.Timeout))
	if f.Window == 0 {
		f.Window = knownWindow(e.Provider, e.Model)
	}
	return f
}
