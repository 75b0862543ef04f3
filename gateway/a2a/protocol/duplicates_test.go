package protocol_test

import (
	"context"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

func TestDuplicateMembersAreRefused(t *testing.T) {
	const message = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":DATA}]}}}`
	for name, c := range map[string]struct {
		data    string
		refused bool
	}{
		"twice":            {`{"approved":false,"approved":true}`, true},
		"twice, escaped":   {`{"approved":false,"\u0061pproved":true}`, true},
		"twice, deep":      {`{"a":[1,{"x":{}, "y":[[]], "x":2}]}`, true},
		"in two objects":   {`{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":"x"}],"x":"x"}`, false},
		"a name as a text": {`{"a":"b","b":"a","c":["a","a"]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			sent := false
			h := &fake{SendFn: func(context.Context, *a2a.SendMessageRequest) (*a2a.Task, error) {
				sent = true
				return task(a2a.TaskStateCompleted), nil
			}}
			got := post(t, h, strings.Replace(message, "DATA", c.data, 1))
			if refused := got.code() == -32602; refused != c.refused || sent == c.refused {
				t.Errorf("refused %t, sent %t: %s", refused, sent, got.body)
			}
		})
	}
}
