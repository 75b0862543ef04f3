package clients_test

import (
	"testing"

	"agent-stop-and-go/config/clients"
)

func TestAPortIsForOneThing(t *testing.T) {
	for port, want := range map[int]string{8080: "ollama.port", 11434: ""} {
		var got string
		clients.Clients{Ollama: &clients.Ollama{Port: port}}.Check([]int{8080, 7233}, func(key, _ string) { got = key })
		if got != want {
			t.Errorf("%d: %q", port, got)
		}
	}
	var got string
	twice := clients.Clients{API: &clients.API{Port: 8767}, Shell: &clients.Shell{Port: 8767}}
	if twice.Check(nil, func(key, _ string) { got = key }); got != "shell.port" {
		t.Error(got)
	}
	clients.Clients{}.Check([]int{0}, func(key, _ string) { t.Error(key) })
}
