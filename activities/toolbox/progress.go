package toolbox

import (
	"strconv"
	"sync"
)

// Progress is what a server tells of a call that runs. Total is 0 when the
// server does not know it. Encoded it is numbers only: a message may repeat what
// the call was about.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total,omitempty"`
	Message  string  `json:"-"`
}

// progress knows who wants to hear of which call, by its token.
type progress struct {
	mu    sync.Mutex
	last  int
	calls map[string]func(Progress)
}

func (p *progress) begin(tell func(Progress)) (token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[string]func(Progress){}
	}
	p.last++
	token = "call-" + strconv.Itoa(p.last)
	p.calls[token] = tell
	return token
}

func (p *progress) end(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, token)
}

// report passes a notification on. Those of calls that have ended are dropped.
func (p *progress) report(params map[string]any) {
	token, _ := params["progressToken"].(string)
	p.mu.Lock()
	tell := p.calls[token]
	p.mu.Unlock()
	if tell == nil {
		return
	}
	done, _ := params["progress"].(float64)
	total, _ := params["total"].(float64)
	message, _ := params["message"].(string)
	tell(Progress{Progress: done, Total: total, Message: message})
}
