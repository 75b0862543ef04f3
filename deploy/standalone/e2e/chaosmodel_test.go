package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
)

// moody is a model that makes the requested calls. For users of far ends it sometimes fails,
// writes garbage or requests far too much, and echoes its key.
func moody(d *dice) llmtest.Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		if !bytes.Contains(data, []byte(farName)) || !d.trouble(4) {
			obedient(w, r)
			return
		}
		secrets := secretsOf(r)
		moods(d, strike(data), secrets)[d.roll(moodCount)](w, r)
	}
}

// strike returns the model's call for a user's request.
func strike(request []byte) llm.Call {
	var body struct {
		Messages []struct{ Role, Content string }
	}
	call := llm.Call{ID: "call-0", Name: "nothing", Arguments: json.RawMessage(`{}`)}
	if json.Unmarshal(request, &body) != nil {
		return call
	}
	for _, m := range body.Messages {
		if words := strings.SplitN(m.Content, " ", 3); m.Role == "user" && words[0] == "call" && len(words) == 3 {
			call.Name, call.Arguments = words[1], json.RawMessage(words[2])
		}
	}
	return call
}

const moodCount = 20

// moods returns the answers to draw from.
func moods(d *dice, call llm.Call, secrets string) [moodCount]llmtest.Answer {
	other := call
	other.ID = "call-1"
	named := func(name string) llm.Call { return llm.Call{ID: "call-0", Name: name, Arguments: call.Arguments} }
	many := func(n int) []llm.Call {
		calls := make([]llm.Call, n)
		for i := range calls {
			calls[i] = call
			calls[i].ID = fmt.Sprint("call-", i)
		}
		return calls
	}
	broken := llm.Call{ID: "call-0", Name: call.Name, Arguments: json.RawMessage(`{"name":`)}
	loud := llm.Call{ID: "id " + canaryOf(secrets), Name: call.Name, Arguments: call.Arguments}
	return [moodCount]llmtest.Answer{
		llmtest.RateLimit("1"), llmtest.RateLimit(""), llmtest.Fail(500, "oops "+secrets), llmtest.Fail(503, secrets), llmtest.Fail(400, secrets),
		llmtest.Fail(401, "Incorrect API key: "+secrets), llmtest.Garbage(), llmtest.EmptyChoices(), llmtest.Truncated(), llmtest.Reset(),
		llmtest.CutAfter(2, strings.Repeat("half of it ", 50)), llmtest.Frames("data: {]<html>\n\n"), func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(d.moment(2 * time.Second))
			obedient(w, r)
		},
		llmtest.CallTools("", many(129)...), llmtest.CallTools("", many(2500)...), llmtest.CallTools("", named(strings.Repeat("n", 200<<10))),
		llmtest.CallTools("I do it twice.", call, other), llmtest.CallTools("", named("no_such_tool_"+canaryOf(secrets)), broken),
		llmtest.CallTools("By my key "+secrets, loud), llmtest.Say("My key is " + secrets),
	}
}

// canaryOf returns the first of some secrets.
func canaryOf(secrets string) string {
	first, _, _ := strings.Cut(secrets, " ")
	return first
}
