package encryption_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/config/encryption"
)

// Package workflows replays these histories. A worker whose server keeps them encrypted gets the
// very same ones.
func TestRecordedHistoriesComeBackUnchanged(t *testing.T) {
	files, err := filepath.Glob("../../workflows/testdata/histories/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories, %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			recorded := history(t, file)
			stored, err := encryption.Request(codec(t, "a"), t.Context(), recorded)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := proto.Marshal(stored.(proto.Message))
			if err != nil || bytes.Contains(raw, []byte(`"conversation_id"`)) {
				t.Errorf("stored in clear, %v", err)
			}
			w := wire{reply: &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte("token"), History: stored.(*historypb.History)}}
			var got workflowservice.PollWorkflowTaskQueueResponse
			if err := w.call(t, codec(t, "b", "a"), "PollWorkflowTaskQueue", &workflowservice.PollWorkflowTaskQueueRequest{}, &got); err != nil {
				t.Fatal(err)
			}
			if len(w.sent) != 1 || !proto.Equal(got.GetHistory(), recorded) {
				t.Error("the worker gets another history")
			}
		})
	}
}

func history(t *testing.T, file string) *historypb.History {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
