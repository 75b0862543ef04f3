package toolbox

import (
	"fmt"
	"strings"
	"sync"
)

// openQuestions are the questions of a server that no user has answered. The result of the call
// reports them, because the server's reaction to "cancel" may read like an answer.
type openQuestions struct {
	mu    sync.Mutex
	lines []string
}

// maxUnanswered bounds the questions that the result of a call lists.
const maxUnanswered = 5

// add records a question, and why nobody has answered it.
func (u *openQuestions) add(server, message, why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.lines) < maxUnanswered {
		u.lines = append(u.lines, fmt.Sprintf("[The MCP server %s asked %.300q during this call. No user has answered: %s. The server was told \"cancel\".]",
			server, message, why))
	}
}

// String returns a line for each question.
func (u *openQuestions) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.Join(u.lines, "\n")
}

// annotate adds them to the outcome of the call.
func (u *openQuestions) annotate(v verdict) verdict {
	text := u.String()
	switch {
	case text == "":
	case v.kind != "":
		v.err = fmt.Errorf("%w %s", v.err, text)
	default:
		v.result.Text = strings.TrimPrefix(v.result.Text+"\n"+text, "\n")
	}
	return v
}
