package console_test

import (
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract/console"
)

func TestFlagsNameAServerThatIsNotTheUsualOne(t *testing.T) {
	for server, want := range map[console.Server][]string{
		{}: nil,
		{Address: "localhost:7233", Namespace: "default"}:        nil,
		{Address: "t.example.com:7233", Namespace: "a b"}:        {"--address t.example.com:7233", "--namespace 'a b'"},
		{Address: "[::1]:7300", Namespace: "it's; rm -rf $HOME"}: {"--address '[::1]:7300'", `--namespace 'it'\''s; rm -rf $HOME'`},
	} {
		if got := server.Flags(); !slices.Equal(got, want) {
			t.Errorf("%+v: got %q, expected %q", server, got, want)
		}
	}
}
