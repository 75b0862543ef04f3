package config

import "gopkg.in/yaml.v3"

type pair struct{ key, value *yaml.Node }

// line is where to report a mistake in the value.
func (p pair) line() int {
	if p.value.Kind == yaml.ScalarNode || p.value.Kind == yaml.AliasNode {
		return p.value.Line
	}
	return p.key.Line
}

// pairs returns the keys and values of a mapping: its own, then those of merge keys (<<) that
// it does not set itself.
func (d decoder) pairs(path string, n *yaml.Node) []pair {
	var own, merged []pair
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, line := follow(n.Content[i])
		value := n.Content[i+1]
		switch first, again := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			d.atLine(line, path, "a key must be a word")
		case key.ShortTag() == "!!merge":
			merged = append(merged, d.merged(path, value)...)
		case again:
			d.atLine(line, join(path, key.Value), "duplicate key; it is already set in line %d", first)
		default:
			seen[key.Value] = line
			own = append(own, pair{key, value})
		}
	}
	for _, p := range merged {
		if _, set := seen[p.key.Value]; !set {
			seen[p.key.Value] = p.key.Line
			own = append(own, p)
		}
	}
	return own
}

func (d decoder) merged(path string, value *yaml.Node) []pair {
	n, line := follow(value)
	switch n.Kind {
	case yaml.MappingNode:
		return d.pairs(path, n)
	case yaml.SequenceNode:
		var all []pair
		for _, item := range n.Content {
			all = append(all, d.merged(path, item)...)
		}
		return all
	}
	d.atLine(line, path, "<< must be followed by an alias of a mapping, or a list of those")
	return nil
}
