package wording_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// shellCalls runs the commands of a text in a shell, and returns the arguments of each call of
// Temporal's CLI.
func shellCalls(t *testing.T, details, user string) [][]string {
	t.Helper()
	var out [][]string
	for _, part := range strings.Split(details, "```sh\n")[1:] {
		command, _, _ := strings.Cut(part, "```")
		sh := exec.Command("sh", "-c", "temporal() { printf '%s\\0' \"$@\"; }\n"+command)
		sh.Env = []string{"USER=" + user}
		args, err := sh.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, args)
		}
		out = append(out, strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00"))
	}
	return out
}

func TestTheCommandsThatAreShownDecideAsTheyAre(t *testing.T) {
	var got []contract.DecideSignal
	for _, args := range shellCalls(t, wording.ApprovalDetails(waiting(), "helper", "resources", here), "alice o'hara") {
		last := len(args) - 1
		want := []string{"workflow", "signal", "--workflow-id", "approval-" + approvalID, "--name", "decide", "--input"}
		if diff := cmp.Diff(want, args[:last]); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
		var s contract.DecideSignal
		if err := json.Unmarshal([]byte(args[last]), &s); err != nil {
			t.Errorf("%s: %v", args[last], err)
		}
		got = append(got, s)
	}
	if diff := cmp.Diff([]contract.DecideSignal{{Approved: true, By: "alice o'hara"}, {By: "alice o'hara"}}, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestCommandsNameAServerThatIsNotTheUsualOne(t *testing.T) {
	for name, tt := range map[string]struct {
		console wording.Console
		want    []string
	}{
		"nothing is known":  {wording.Console{}, nil},
		"the usual one":     {wording.Console{Address: "localhost:7233", Namespace: "default"}, nil},
		"another port":      {wording.Console{Address: "127.0.0.1:7300", Namespace: "default"}, []string{"--address", "127.0.0.1:7300"}},
		"another namespace": {wording.Console{Address: "127.0.0.1:7233", Namespace: "shop"}, []string{"--namespace", "shop"}},
		"a cluster":         {wording.Console{Address: "t.example.com:7233", Namespace: "shop.a1"}, []string{"--address", "t.example.com:7233", "--namespace", "shop.a1"}},
		"an IPv6 address":   {wording.Console{Address: "[::1]:7300"}, []string{"--address", "[::1]:7300"}},
		"a hostile name":    {wording.Console{Namespace: "a b'; rm -rf $HOME"}, []string{"--namespace", "a b'; rm -rf $HOME"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range shellCalls(t, wording.ApprovalDetails(waiting(), "helper", "", tt.console), "ops") {
				got := args[2 : len(args)-6]
				if len(tt.want)+len(got) > 0 && !cmp.Equal(tt.want, got) {
					t.Errorf("%q, expected %q", got, tt.want)
				}
			}
		})
	}
}

// pageWidth is the number of characters in a line of the Web UI's page in a window of 1280
// pixels.
const pageWidth = 56

func TestCommandsFitThePage(t *testing.T) {
	details := wording.ApprovalDetails(waiting(), "helper", "resources", wording.Console{Address: "temporal.example.com:7233", Namespace: "shop"})
	for _, part := range strings.Split(details, "```sh\n")[1:] {
		command, _, _ := strings.Cut(part, "```")
		for line := range strings.Lines(command) {
			if len(line) > pageWidth+len("\n") {
				t.Errorf("%d letters: %s", len(line), line)
			}
		}
	}
}

func TestDetailsTellWhatToTypeIntoTheWebUI(t *testing.T) {
	got := wording.ApprovalDetails(waiting(), "helper", "resources", here)
	_, after, _ := strings.Cut(got, "*Send a Signal*")
	var input contract.DecideSignal
	parts := strings.Split(after, "`")
	if len(parts) < 4 || parts[1] != contract.SignalDecide || json.Unmarshal([]byte(parts[3]), &input) != nil || !input.Approved {
		t.Errorf("%q", parts)
	}
}
