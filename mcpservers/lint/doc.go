// Package lint tells the faults of a tool server that models, agents and the people who approve run into.
// It lists what the server offers and calls no tool:
//
//	faults, err := lint.Server(ctx, client)
//
// An [Error] keeps a tool from working or makes it dangerous; a [Warning] makes it worse than it could be:
//
//	hints    missing or contradicting annotations: agents ask for each call, or not at all
//	name     what models' interfaces refuse, and names that differ only in case
//	text     missing or very long descriptions
//	schema   no object, unions at the top, wrong required names, accepted misspellings, …
//	size     tools, and lists of them, that fill the context of a model
//	time     slow answers
//	list     lists that are declared and cannot be read, or do not end
package lint
