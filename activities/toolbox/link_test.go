package toolbox_test

import (
	"errors"
	"testing"

	"agent-stop-and-go/activities/toolbox"
)

// An attempt may end while the one before it is still telling so.
func TestTwoAttemptsToConnectMayEndTogether(t *testing.T) {
	box := openServers(t)
	for range 20_000 {
		box.Settle(toolbox.Server{Name: "gone"}, errors.New("refused"))
	}
}
