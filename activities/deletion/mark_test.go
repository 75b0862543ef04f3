package deletion_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"

	"agent-stop-and-go/activities/deletion"
	"agent-stop-and-go/workflows/contract"
)

// started is the history of a workflow with an argument in an encoding.
func started(encoding, data string) *historypb.History {
	return &historypb.History{Events: []*historypb.HistoryEvent{{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{
					Metadata: map[string][]byte{"encoding": []byte(encoding)}, Data: []byte(data),
				}}},
			},
		},
	}}}
}

func TestReferencesAreFoundInHistories(t *testing.T) {
	sum := contract.Hash([]byte("value"))
	got, err := deletion.SumsIn(t.Context(), started("json/plain", `{"text":"it is binary/encrypted","blob":{"sha256":"`+sum+`"}}`))
	if err != nil || !slices.Equal(got, []string{sum}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAHistoryThatCannotBeReadIsAFault(t *testing.T) {
	for _, encoding := range []string{"binary/encrypted", "binary/zlib", "other"} {
		if _, err := deletion.SumsIn(t.Context(), started(encoding, "x")); err == nil || !strings.Contains(err.Error(), encoding) {
			t.Errorf("%s: %v", encoding, err)
		}
	}
}

func TestWorkersThatShareAFolderAreOneHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	names := make([]string, 8)
	var all sync.WaitGroup
	for i := range names {
		all.Go(func() {
			name, err := deletion.FolderName(dir)
			if err != nil {
				t.Error(err)
			}
			names[i] = name
		})
	}
	all.Wait()
	if names[0] == "" || len(slices.Compact(names)) != 1 {
		t.Errorf("got %q", names)
	}
	if other, err := deletion.FolderName(t.TempDir()); err != nil || other == names[0] {
		t.Errorf("another folder: %q, %v", other, err)
	}
}
