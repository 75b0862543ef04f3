// Command memory is the smallest server that the bench can compare: its conversations are in
// memory, and nothing survives it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// message is a message of the chat completions API.
type message map[string]any

var (
	waiting sync.Map // messages of conversations that wait for a decision, by id
	last    atomic.Int64
	client  = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 500}}
)

func main() {
	http.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /conversations", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Message string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id := strconv.FormatInt(last.Add(1), 10)
		talk := generate([]message{{"role": "system", "content": "as told"}, {"role": "user", "content": in.Message}})
		if in.Message == "write" {
			waiting.Store(id, talk)
			fmt.Fprintf(w, `{"id":%q,"state":"waiting"}`, id)
			return
		}
		finish(w, id, talk)
	})
	http.HandleFunc("POST /conversations/{id}/decision", func(w http.ResponseWriter, r *http.Request) {
		talk, ok := waiting.LoadAndDelete(r.PathValue("id"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		finish(w, r.PathValue("id"), talk.([]message))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

// finish runs the tool, which does nothing, and asks the model for the answer.
func finish(w http.ResponseWriter, id string, talk []message) {
	talk = generate(append(talk, message{"role": "tool", "tool_call_id": "call", "content": "ok"}))
	fmt.Fprintf(w, `{"id":%q,"state":"done","answer":%q}`, id, talk[len(talk)-1]["content"])
}

// generate appends the model's next message.
func generate(talk []message) []message {
	tool := func(name string) message {
		return message{"type": "function", "function": message{"name": name, "parameters": message{"type": "object", "properties": message{}}}}
	}
	body, err := json.Marshal(message{"model": "bench", "messages": talk, "tools": []message{tool("look"), tool("write")}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := client.Post(os.Getenv("MODEL_URL")+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	var out struct{ Choices []struct{ Message message } }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || len(out.Choices) == 0 {
		log.Fatalf("the model answered %s: %v", res.Status, err)
	}
	return append(talk, out.Choices[0].Message)
}
