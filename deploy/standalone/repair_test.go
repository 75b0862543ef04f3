package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/deploy/standalone/repair"
)

func TestRepairShowsWhatItFoundBeforeAFailure(t *testing.T) {
	failure := errors.New("the server is gone")
	found := []repair.Case{{WorkflowID: "conversation-1", Problem: repair.RunFailed, Blocked: "it made calls"}}
	for _, f := range []repairFlags{{}, {asJSON: true}} {
		var out bytes.Buffer
		if err := f.report(&out, found, failure); !errors.Is(err, failure) || !strings.Contains(out.String(), "conversation-1") {
			t.Errorf("%v: %s", err, &out)
		}
	}
	var out bytes.Buffer
	if err := new(repairFlags).report(&out, nil, failure); !errors.Is(err, failure) || out.Len() > 0 {
		t.Errorf("nothing is known, and it printed %q", &out)
	}
}
