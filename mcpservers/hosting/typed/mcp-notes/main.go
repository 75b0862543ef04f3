// Command mcp-notes is the example of package typed: a tool server of one's own.
package main

import (
	"context"
	"flag"
	"log"
	"os/signal"
	"sync"
	"syscall"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/typed"
)

type addInput struct {
	Text string `json:"text" jsonschema:"what to remember"`
}

type notes struct {
	Notes []string `json:"notes" jsonschema:"all notes, oldest first"`
}

func main() {
	settings := hosting.DefaultSettings(8095)
	settings.Bind(flag.CommandLine) // --transport, --host, --port, --auth …
	flag.Parse()
	var mu sync.Mutex
	var all notes
	s := typed.NewServer("mcp-notes", "1.0.0")
	typed.Add(s, typed.Tool{Name: "notes_add", Description: "Keep a note", Effect: typed.Adds}, func(_ context.Context, in addInput) (notes, error) {
		mu.Lock()
		defer mu.Unlock()
		all.Notes = append(all.Notes, in.Text)
		return all, nil
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := hosting.Run(ctx, hosting.Options{Settings: settings, Name: "mcp-notes"}, s); err != nil {
		log.Fatal(err)
	}
}
