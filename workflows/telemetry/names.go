package telemetry

import "sync"

const (
	maxNames = 200 // different values of an attribute from outside
	maxName  = 100 // bytes of such a value
	other    = "other"
)

// names are the values that one attribute has had.
type names struct {
	mu   sync.RWMutex
	seen map[string]struct{}
}

// of returns the name, or "other" if it is too long or there were too many before it.
func (n *names) of(name string) string {
	if len(name) > maxName {
		return other
	}
	n.mu.RLock()
	_, known := n.seen[name]
	n.mu.RUnlock()
	if known {
		return name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.seen) >= maxNames {
		return other
	}
	if n.seen == nil {
		n.seen = map[string]struct{}{}
	}
	n.seen[name] = struct{}{}
	return name
}

var agentNames, modelNames, toolNames, serverNames names
