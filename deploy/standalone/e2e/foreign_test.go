//go:build foreign

package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// These tests run agents on foreign MCP servers, which npm installs. `make conformance` does
// both.

// foreignScript returns the path of the script that starts such a server.
func foreignScript(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../conformance")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".installed")); err != nil {
		t.Fatal("the foreign servers are not installed: run make conformance")
	}
	return filepath.Join(dir, "mcp-foreign.sh")
}

// foreignServer starts a foreign server that listens, and returns its port.
func foreignServer(t *testing.T, kind string) int {
	t.Helper()
	port := freePort(t)
	out := newOutput("")
	cmd := exec.Command(foreignScript(t), kind, fmt.Sprint(port))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("output of %s:\n%s", kind, out)
		}
	})
	eventually(t, kind+" listens", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return port
}

func TestForeignEverything(t *testing.T) {
	t.Parallel()
	ways := map[string]func(t *testing.T) string{
		"stdio": func(t *testing.T) string {
			return fmt.Sprintf("command: %q, args: [everything-stdio]", foreignScript(t))
		},
		"http": func(t *testing.T) string {
			return fmt.Sprintf("url: 'http://127.0.0.1:%d/mcp'", foreignServer(t, "everything-http"))
		},
		"sse": func(t *testing.T) string {
			return fmt.Sprintf("url: 'http://127.0.0.1:%d/sse', transport: sse", foreignServer(t, "everything-sse"))
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			// The server declares echo as read-only; the configuration overrides that.
			h.also = []string{fmt.Sprintf("{name: everything, %s, destructive: [echo], prefix: true, expose: [resources]}", way(t))}
			api, _ := h.inside()
			echo := api.waits(`call everything__echo {"message":"hello"}`)
			if echo.ToolName != "everything__echo" || !sameJSON(t, string(echo.ToolArgs), `{"message":"hello"}`) {
				t.Errorf("asked for %+v", echo)
			}
			api.approves(echo, "Echo: hello")
			api.answers(`call everything__get-sum {"a":"2","b":3}`, "5")
			api.answers(`call everything__get-structured-content {"location":"Chicago"}`, "conditions")
			api.answers(`call everything__get-structured-content {"location":"Atlantis"}`, "location")
			api.answers(`call read_resource {"server":"everything","uri":"demo://resource/dynamic/text/1"}`, "Resource 1")
		})
	}
}

// Its form has more than 2 KiB.
func TestForeignEverythingAsksAUser(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.also = []string{fmt.Sprintf("{name: everything, command: %q, args: [everything-stdio], elicitation: true}", foreignScript(t))}
	api, _ := h.inside()
	p := api.waits(`call trigger-elicitation-request`)
	if !strings.Contains(p.Description, "Please provide inputs for the following fields:") {
		t.Errorf("asked for %+v", p)
	}
	if got := api.do("GET", "/approvals/"+p.UUID, ""); !strings.Contains(got.Raw, `"reason":"question"`) || !strings.Contains(got.Raw, `"Your full, legal name"`) || !strings.Contains(got.Raw, `"Superman"`) {
		t.Errorf("shown: %s", got.Raw)
	}
	done := api.decide(p.UUID, `{"content":{"name":"Ada","integer":7,"titledSingleSelectEnum":"hero-2","untitledMultipleSelectEnum":["Piano"]}}`)
	for _, want := range []string{"User provided the requested information", "- Name: Ada", "- Favorite Integer: 7", `"hero-2"`} {
		if !strings.Contains(done.Result.Response, want) {
			t.Errorf("%q is missing: %s", want, done.Result.Response)
		}
	}
	declined := api.decide(api.waits(`call trigger-elicitation-request`).UUID, `{"approved":false}`)
	if !strings.Contains(declined.Result.Response, "User declined to provide the requested information.") {
		t.Errorf("after a no: %s", declined.Result.Response)
	}
}

func TestForeignFilesystem(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h.also = []string{fmt.Sprintf("{name: files, command: %q, args: [filesystem, %q]}", foreignScript(t), dir)}
	api, _ := h.inside()
	path := filepath.Join(dir, "a.txt")

	write := api.waits(fmt.Sprintf(`call write_file {"path":%q,"content":"one line\n"}`, path))
	if got := content(t, path); got != "" {
		t.Fatalf("written before anybody approved: %q", got)
	}
	api.approves(write, "Successfully wrote")
	if got := content(t, path); got != "one line\n" {
		t.Errorf("the file holds %q", got)
	}
	api.answers(fmt.Sprintf(`call read_text_file {"path":%q}`, path), "one line")
	api.answers(`call read_text_file {"path":"/etc/hostname"}`, "Access denied")
}
