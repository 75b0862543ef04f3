package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
)

// job is a task of several steps, which its model takes from the message:
//
//	look   a call of a tool
//	tell   a text and a call
//	add    a call that a person approves
//	two    two of them in one reply
//	no     a call that a person rejects
//	hold   a call that is approved after the agent was killed
type job struct {
	name  string
	steps []string
	id    string
}

func (j job) text() string { return "job " + j.name + " " + strings.Join(j.steps, ",") }

// want returns the events of the job's stream, in brief.
func (j job) want() (list []string) {
	const yes = "working [APPROVAL]: Approved"
	for i, step := range j.steps {
		switch step {
		case "tell":
			list = append(list, fmt.Sprintf("working This is step %d.", i))
		case "add", "hold":
			list = append(list, "input-required", yes)
		case "two":
			list = append(list, "input-required", yes, "input-required", yes)
		case "no":
			return append(list, "input-required", "working [APPROVAL]: Rejected", "rejected Operation cancelled by user.")
		}
	}
	return append(list, "artifact Done with "+j.name+".", "completed")
}

// laborer is a model that does jobs, with a short delay for each step.
func laborer(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	task, results := "", 0
	for _, m := range body.Messages {
		switch {
		case m.Role == "user" && strings.HasPrefix(m.Content, "job "):
			task, results = m.Content, 0
		case m.Role == "tool":
			results++
		}
	}
	time.Sleep(time.Duration(10+rand.IntN(60)) * time.Millisecond)
	work(strings.Fields(task), results)(w, r)
}

func work(task []string, results int) llmtest.Answer {
	call := func(tool string, n int) llm.Call {
		args := fmt.Sprintf(`{"name":"%s-%d"}`, task[1], n)
		return llm.Call{ID: fmt.Sprintf("call-%d", n), Name: tool, Arguments: json.RawMessage(args)}
	}
	done := 0
	for i, step := range strings.Split(task[2], ",") {
		if done == results {
			switch step {
			case "look":
				return llmtest.CallTools("", call("look", done))
			case "tell":
				return llmtest.CallTools(fmt.Sprintf("This is step %d.", i), call("look", done))
			case "two":
				return llmtest.CallTools("", call("note_add", done), call("note_add", done+1))
			default:
				return llmtest.CallTools("", call("note_add", done))
			}
		}
		if done++; step == "two" {
			done++
		}
	}
	return llmtest.Say("Done with " + task[1] + ".")
}

// step returns the step that approval n of the job belongs to.
func (j job) step(n int) string {
	for _, step := range j.steps {
		switch step {
		case "add", "no", "hold":
			n--
		case "two":
			n -= 2
		}
		if n < 0 {
			return step
		}
	}
	return ""
}
