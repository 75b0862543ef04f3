// Command ollama-client drives an agent with Ollama's own client for Go. It is a module of its own,
// so that nothing else depends on Ollama.
//
//	go run . URL        where URL is that of the port of clients.ollama
//
// The agent is called tester. Its server counting has the tools note_list and note_add, of which
// note_add wants an approval, and its model does what a message says: "call TOOL ARGS", "say TEXT".
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"

	"github.com/ollama/ollama/api"
)

const model = "tester"

// check is a named check of what the client gets.
type check struct {
	name string
	run  func(context.Context, *api.Client) error
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ollama-client URL")
		os.Exit(2)
	}
	base, err := url.Parse(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	client, failed := api.NewClient(base, http.DefaultClient), 0
	checks := slices.Concat(models, chats, failures)
	for _, c := range checks {
		if err := c.run(context.Background(), client); err != nil {
			failed++
			fmt.Printf("FAIL %s: %v\n", c.name, err)
			continue
		}
		fmt.Println("ok  ", c.name)
	}
	fmt.Printf("%d passed, %d failed\n", len(checks)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// want returns an error if something is not as expected.
func want(what string, got, want any) error {
	if got != want {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}
