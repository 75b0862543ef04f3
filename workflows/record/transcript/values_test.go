package transcript_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func isErr(err, target error) bool { return errors.Is(err, target) }

func TestLongTextsLiveElsewhere(t *testing.T) {
	for size, elsewhere := range map[int]bool{0: false, contract.InlineLimit: false, contract.InlineLimit + 1: true, 200 << 10: true} {
		store := newMemory()
		want := strings.Repeat("x", size)
		got, err := transcript.Text(t.Context(), store, want)
		if err != nil || (got.Blob != nil) != elsewhere {
			t.Errorf("%d bytes: in the store: %t, %v; expected %t", size, got.Blob != nil, err, elsewhere)
		}
		if back, err := transcript.ReadText(t.Context(), store, got); err != nil || back != want {
			t.Errorf("%d bytes: read back %d bytes, %v", size, len(back), err)
		}
	}
}

func TestLongValuesLiveElsewhere(t *testing.T) {
	quoted := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	tests := map[string]struct {
		raw       string
		elsewhere bool
	}{
		"absent":             {"", false},
		"small":              {`{"a":1}`, false},
		"as long as allowed": {quoted(contract.InlineLimit), false},
		"one byte more":      {quoted(contract.InlineLimit + 1), true},
		"like an address":    {`{"blob":"` + strings.Repeat("5e", 32) + `","size":3}`, true},
	}
	for name, tt := range tests {
		store := newMemory()
		got, err := transcript.JSON(t.Context(), store, json.RawMessage(tt.raw))
		if err != nil || (got.Blob != nil) != tt.elsewhere {
			t.Errorf("%s: in the store: %t, %v; expected %t", name, got.Blob != nil, err, tt.elsewhere)
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var travelled contract.JSON
		if err := json.Unmarshal(data, &travelled); err != nil {
			t.Fatal(err)
		}
		if back, err := transcript.ReadJSON(t.Context(), store, travelled); err != nil || string(back) != tt.raw {
			t.Errorf("%s: read back %.80q, %v", name, back, err)
		}
	}
}

func TestResolvePutsEveryValueInPlace(t *testing.T) {
	store := newMemory()
	content, result := strings.Repeat("c", 9000), strings.Repeat("r", 9000)
	args := `{"a":"` + strings.Repeat("a", 9000) + `"}`
	m := contract.Message{
		ID: "1", Content: text(t, store, content),
		ToolCall: &contract.ToolCall{Name: "t", Arguments: value(t, store, args), Result: text(t, store, result)},
	}
	before, _ := json.Marshal(m)
	got, err := transcript.Resolve(t.Context(), store, m)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.Message{
		ID: "1", Content: contract.Inline(content),
		ToolCall: &contract.ToolCall{Name: "t", Arguments: contract.JSON{Raw: json.RawMessage(args)}, Result: contract.Inline(result)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
	if after, _ := json.Marshal(m); string(after) != string(before) {
		t.Error("the message that was given changed")
	}
}

func TestResolveLeavesInlineMessagesAlone(t *testing.T) {
	m := contract.Message{ID: "1", Content: contract.Inline("hi"), ToolCall: &contract.ToolCall{Name: "t", Result: contract.Inline("ok")}}
	got, err := transcript.Resolve(t.Context(), newMemory(), m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
}

func TestMissingValuesAreErrors(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	messages := map[string]contract.Message{
		"content":   {Content: contract.Text{Blob: &lost}},
		"result":    {ToolCall: &contract.ToolCall{Result: contract.Text{Blob: &lost}}},
		"arguments": {ToolCall: &contract.ToolCall{Arguments: contract.JSON{Blob: &lost}}},
	}
	for name, m := range messages {
		if _, err := transcript.Resolve(t.Context(), newMemory(), m); !errors.Is(err, errNoBlob) {
			t.Errorf("missing %s: %v", name, err)
		}
	}
}

func TestAStoreThatCannotWriteIsAnError(t *testing.T) {
	store := newMemory()
	store.failPut = errors.New("disk full")
	if _, err := transcript.Text(t.Context(), store, strings.Repeat("x", 9000)); !errors.Is(err, store.failPut) {
		t.Errorf("text: %v", err)
	}
	if _, err := transcript.JSON(t.Context(), store, json.RawMessage(`"`+strings.Repeat("x", 9000)+`"`)); !errors.Is(err, store.failPut) {
		t.Errorf("value: %v", err)
	}
}

func text(t *testing.T, store transcript.Store, s string) contract.Text {
	t.Helper()
	got, err := transcript.Text(t.Context(), store, s)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func value(t *testing.T, store transcript.Store, s string) contract.JSON {
	t.Helper()
	got, err := transcript.JSON(t.Context(), store, json.RawMessage(s))
	if err != nil {
		t.Fatal(err)
	}
	return got
}
