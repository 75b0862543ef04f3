package toolbox

import (
	"strconv"
	"sync"
)

// Progress is a progress notification of a running call. Total is 0 if the server does not know
// it. Encoded it is numbers only, because a message may repeat the arguments of the call.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total,omitempty"`
	Message  string  `json:"-"`
}

// progressCalls has the receivers of progress notifications, by token.
type progressCalls struct {
	mu    sync.Mutex
	last  int
	calls map[string]func(Progress)
}

func (p *progressCalls) begin(tell func(Progress)) (token string) {
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

func (p *progressCalls) end(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.calls, token)
}

// report passes a notification on. Notifications of ended calls are dropped.
func (p *progressCalls) report(params map[string]any) {
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
