package protocol

import (
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Notification returns the body of a web hook for a task: a StreamResponse with the task in
// 1.0 (§4.3.3), the task itself in 0.3 (§9.5).
func Notification(d Dialect, t *a2a.Task) (json.RawMessage, error) {
	if d == V03 {
		return encode(newTaskV03(t))
	}
	return encode(&streamV10{Task: newTaskV10(t)})
}
