package connect_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"agent-stop-and-go/config/connect"
)

// Another container of a pod has the same host name, but its process 17 is another one.
func TestOnlyProcessesOfTheSameSpaceAreKnownToBeDead(t *testing.T) {
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	_, place, _ := strings.Cut(connect.Identity(), "@")
	host, space, _ := strings.Cut(place, "@")
	ended := child.Process.Pid
	for identity, dead := range map[string]bool{
		fmt.Sprintf("%d@%s@%s", ended, host, space):        space != "", // otherwise nothing is known
		fmt.Sprintf("%d@%s@%s", os.Getpid(), host, space):  false,
		fmt.Sprintf("%d@%s@", ended, host):                 false, // of an older worker
		fmt.Sprintf("%d@%s@0123abcd", ended, host):         false,
		fmt.Sprintf("%d@another@%s", ended, space):         false,
		fmt.Sprintf("-%d@%s@%s", os.Getpid(), host, space): false,
		"somebody": false,
		"":         false,
	} {
		if got := connect.IsDead(identity); got != dead {
			t.Errorf("%q is dead: %v, want %v", identity, got, dead)
		}
	}
}

func TestAClientHasAnIdentity(t *testing.T) {
	settings, err := connect.Settings(connect.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil || settings.Identity != connect.Identity() || connect.IsDead(settings.Identity) {
		t.Errorf("%q, %v", settings.Identity, err)
	}
}
