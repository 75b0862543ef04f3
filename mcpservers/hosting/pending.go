package hosting

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"sync"
)

// counter counts running operations. The zero value is not usable.
type counter struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed while n is 0
}

func newCounter() *counter {
	g := &counter{none: make(chan struct{})}
	close(g.none)
	return g
}

func (g *counter) add(by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.n
	g.n += by
	switch {
	case before == 0 && g.n > 0:
		g.none = make(chan struct{})
	case before > 0 && g.n == 0:
		close(g.none)
	}
}

// wait returns when the count is 0 or ctx ends.
func (g *counter) wait(ctx context.Context) {
	g.mu.Lock()
	none := g.none
	g.mu.Unlock()
	select {
	case <-none:
	case <-ctx.Done():
	}
}

// pendingRequests are the requests of one connection that have been read and not yet answered.
// mcp-go drops them when the connection ends, so the end of the connection is delayed.
type pendingRequests struct {
	*counter
	mu  sync.Mutex
	ids map[string]int
}

// addRequest registers an incoming message if it is a request.
func (p *pendingRequests) addRequest(message []byte) {
	if id, method := idAndMethod(message); id != "" && method != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ids[id]++
		p.add(1)
	}
}

// removeAnswered handles an outgoing message. Messages that answer no registered request are ignored.
func (p *pendingRequests) removeAnswered(message []byte) {
	if id, method := idAndMethod(message); id != "" && method == "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.ids[id] == 0 {
			return
		}
		if p.ids[id]--; p.ids[id] == 0 {
			delete(p.ids, id)
		}
		p.add(-1)
	}
}

// maxID is the length above which an ID is replaced by its hash.
const maxID = 64

// idAndMethod returns the canonical ID and the method of a message. The ID is "" if it is
// neither a string nor a number.
func idAndMethod(message []byte) (id, method string) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	var value any
	if json.Unmarshal(message, &m) != nil || json.Unmarshal(m.ID, &value) != nil {
		return "", ""
	}
	switch v := value.(type) {
	case string:
		id = "s" + v
	case float64:
		id = "n" + strconv.FormatFloat(v, 'g', -1, 64)
	}
	if len(id) > maxID {
		sum := sha256.Sum256([]byte(id))
		id = string(sum[:])
	}
	return id, m.Method
}
