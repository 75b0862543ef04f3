package e2e_test

import (
	"fmt"
	"testing"

	"agent-stop-and-go/config/keyring"
)

func TestProcessesWaitForAServerThatIsNotUpYet(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	g := h.apart()
	env := append(g.environ(), fmt.Sprintf("TEMPORAL_ADDRESS=127.0.0.1:%d", h.ports.grpc), keyring.Variable+"="+sealingKey)
	file := g.configFile()
	waits := func(binary string) *proc {
		p := launch(t, g.dir, binary, env, "--config", file)
		eventually(t, binary+" says that it waits", func() bool { return contains(p.out.String(), "Temporal is not there yet: waiting for it") })
		return p
	}
	for _, binary := range []string{"worker", "gateway", "agent"} {
		if err := waits(binary).terminate(); err != nil {
			t.Errorf("%s, told to end while it waits: %v", binary, err)
		}
	}
	processes := []*proc{waits("worker"), waits("gateway")}
	h.outside() // its Temporal server is used
	for _, p := range processes {
		eventually(t, "it goes on", func() bool { return contains(p.out.String(), "is up: ") })
	}
	newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", g.ports.api)).ask("say hello")
}
