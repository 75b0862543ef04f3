package config

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/template"
	"agent-stop-and-go/workflows/record/transcript"
)

// The tree is part of every conversation's history. If its JSON is larger than treeLimit
// bytes, prompts and schemas of more than promptLimit bytes are stored instead.
const (
	treeLimit   = 32 << 10
	promptLimit = 100
)

// Tree returns the agent tree as input of a workflow, with all defaults resolved, or nil if
// the file has none. Long prompts and schemas are stored.
func (c *Config) Tree(ctx context.Context, store transcript.Store) (*contract.Node, error) {
	root, ok := c.root()
	if !ok {
		return nil, nil
	}
	b := builder{config: c, keys: append(root.outputKeys(), contract.KeyUserMessage)}
	b.keep = func(prompt string) (contract.Text, error) { return transcript.Text(ctx, store, prompt) }
	b.keepJSON = func(schema []byte) (contract.JSON, error) { return transcript.JSON(ctx, store, schema) }
	tree, err := b.node(root)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encode the agent tree: %w", err)
	}
	if len(data) > treeLimit {
		b.keep = func(prompt string) (contract.Text, error) { return keepShort(ctx, store, prompt) }
		b.keepJSON = func(schema []byte) (contract.JSON, error) { return keepShortJSON(ctx, store, schema) }
		if tree, err = b.node(root); err != nil {
			return nil, err
		}
	}
	return &tree, nil
}

// keepShort stores all but the shortest prompts, without a preview.
func keepShort(ctx context.Context, store transcript.Store, prompt string) (contract.Text, error) {
	if len(prompt) <= promptLimit {
		return contract.Inline(prompt), nil
	}
	b, err := put(ctx, store, []byte(prompt))
	return contract.Text{Blob: b}, err
}

func keepShortJSON(ctx context.Context, store transcript.Store, schema []byte) (contract.JSON, error) {
	if len(schema) <= promptLimit {
		return transcript.JSON(ctx, store, schema)
	}
	b, err := put(ctx, store, schema)
	return contract.JSON{Blob: b}, err
}

func put(ctx context.Context, store transcript.Store, data []byte) (*contract.Blob, error) {
	b, err := store.Put(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("store a text of %d bytes: %w", len(data), err)
	}
	b.Preview = ""
	return &b, nil
}

// builder turns the nodes of a file into nodes of a workflow's input.
type builder struct {
	config   *Config
	keys     []string // the keys that a placeholder may name
	before   []string // the output keys of earlier nodes
	keep     func(prompt string) (contract.Text, error)
	keepJSON func(schema []byte) (contract.JSON, error)
}

func (b builder) node(p nodeContext) (contract.Node, error) {
	n := contract.Node{
		Name: p.Name, Type: contract.NodeType(p.Type), Description: p.Description, OutputKey: p.OutputKey, Timeout: p.Timeout,
		MaxIterations: p.MaxIterations, FailFast: p.FailFast, CanExitLoop: p.CanExitLoop, Tools: p.Tools,
	}
	if p.OnReject == OnRejectContinue {
		n.OnReject = contract.OnRejectContinue
	}
	switch p.Type {
	case LLMNode:
		return b.llm(n, p)
	case A2ANode:
		peer := p.agent().peer()
		n.Peer = &peer
		return b.leaf(n, p, p.Prompt)
	}
	for _, q := range p.children() {
		child, err := b.node(q)
		if err != nil {
			return n, err
		}
		n.Nodes = append(n.Nodes, child)
		if p.Type != Parallel {
			b.before = append(slices.Clip(b.before), q.outputKeys()...)
		}
	}
	return n, nil
}

// llm adds the settings of an llm node. A single node is the whole agent: it falls back on
// the top of the file, and sees the conversation.
func (b builder) llm(n contract.Node, p nodeContext) (contract.Node, error) {
	n.Model = cmp.Or(p.Model, b.config.LLM.Model)
	n.MaxToolRounds = cmp.Or(p.MaxToolRounds, b.config.MaxToolRounds)
	n.History = p.History
	agents, prompt := p.A2A, p.Prompt
	if b.config.single() {
		n.History = true
		prompt = cmp.Or(prompt, b.config.Prompt.System())
		if agents == nil {
			agents = b.config.A2A
		}
	}
	n.Peers = peersOf(agents)
	var err error
	if n.OutputSchema, err = b.schema(p.OutputSchema); err != nil {
		return n, fmt.Errorf("keep the output_schema of %s: %w", n.Name, err)
	}
	return b.leaf(n, p, prompt)
}

// schema returns the same bytes whatever the order of keys in the file.
func (b builder) schema(schema map[string]any) (contract.JSON, error) {
	if schema == nil {
		return contract.JSON{}, nil
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return contract.JSON{}, err
	}
	return b.keepJSON(data)
}

func (b builder) leaf(n contract.Node, p nodeContext, prompt string) (contract.Node, error) {
	n.SkipApproval = p.skipsApproval()
	for _, key := range template.Keys(prompt) {
		if slices.Contains(b.keys, key) {
			n.Keys = append(n.Keys, key)
		}
		if slices.Contains(b.before, key) {
			n.Expects = append(n.Expects, key)
		}
	}
	var err error
	if n.Prompt, err = b.keep(prompt); err != nil {
		return n, fmt.Errorf("keep the prompt of %s: %w", n.Name, err)
	}
	return n, nil
}
