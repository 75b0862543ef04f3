package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/template"
	"agent-stop-and-go/workflows/record/transcript"
)

// store is a blob store in memory.
type store struct {
	mu    sync.Mutex
	blobs map[string][]byte
}

func (s *store) Put(_ context.Context, data []byte) (contract.Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs == nil {
		s.blobs = map[string][]byte{}
	}
	b := contract.NewBlob(data)
	s.blobs[b.SHA256] = data
	return b, nil
}

func (s *store) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.blobs[b.SHA256]
	if !ok {
		return nil, fmt.Errorf("no blob %s", b.SHA256)
	}
	return data, nil
}

func (w *world) delegate(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	w.note(ctx, "delegate", func() { w.sent = append(w.sent, in) })
	if w.DelegateFn == nil {
		return contract.DelegateResult{State: contract.TaskCompleted, Text: contract.Inline("delegated")}, nil
	}
	return w.DelegateFn(ctx, in)
}

func (w *world) compose(ctx context.Context, in contract.ComposeInput) (contract.ComposeResult, error) {
	var text string
	var err error
	read := func(t contract.Text) string {
		s, failed := transcript.ReadText(ctx, &w.blobs, t)
		if failed != nil {
			err = failed
		}
		return s
	}
	if in.Template.IsZero() {
		var parts []string
		for _, p := range in.Parts {
			parts = append(parts, read(p))
		}
		text = strings.Join(parts, "\n")
	} else {
		text = template.Fill(read(in.Template), func(key string) (string, bool) { v, ok := in.Values.Get(key); return read(v), ok })
	}
	out := contract.ComposeResult{}
	if err == nil {
		out.Text, err = transcript.Text(ctx, &w.blobs, text)
	}
	if in.Arguments && err == nil {
		raw, _ := json.Marshal(map[string]string{"message": text})
		out.SHA256 = contract.Hash(raw)
		out.Arguments, err = transcript.JSON(ctx, &w.blobs, raw)
		if w.JudgeFn != nil {
			out.Verdict = w.JudgeFn(*in.Judged)
		}
	}
	return out, err
}

func (w *world) fold(ctx context.Context, in contract.OffloadInput) (out contract.OffloadResult, err error) {
	if w.OffloadFn != nil {
		w.OffloadFn(in)
	}
	fold := transcript.Offload
	if in.Whole {
		fold = transcript.OffloadAll
	}
	if out.Offloaded, err = fold(ctx, &w.blobs, in.Transcript); err != nil {
		return out, err
	}
	for _, t := range in.Texts {
		text, err := transcript.ReadText(ctx, &w.blobs, t)
		if err != nil {
			return out, err
		}
		out.Texts = append(out.Texts, contract.Text{Blob: w.keep([]byte(text))})
	}
	if out.Nodes = in.NodesBefore; len(in.Nodes) == 0 {
		return out, nil
	}
	var nodes []contract.NodeState
	if in.NodesBefore != nil {
		data, err := w.blobs.Get(ctx, *in.NodesBefore)
		if err != nil {
			return out, err
		}
		if err := json.Unmarshal(data, &nodes); err != nil {
			return out, err
		}
	}
	raw, err := json.Marshal(append(nodes, in.Nodes...))
	out.Nodes = w.keep(raw)
	return out, err
}

func (w *world) readAnswer(ctx context.Context, in contract.ReadAnswerInput) (contract.ReadAnswerResult, error) {
	schema, err := transcript.ReadJSON(ctx, &w.blobs, in.Schema)
	if err != nil {
		return contract.ReadAnswerResult{}, fails(contract.KindBlob, err.Error())
	}
	given, err := answer.ParseQuestion(json.RawMessage(in.Signal), schema)
	if in.Signal == "" {
		given, err = answer.ParseText(in.Message, schema)
	}
	if err != nil {
		return contract.ReadAnswerResult{Problem: err.Error()}, nil
	}
	return contract.ReadAnswerResult{Answer: given.Signal()}, nil
}

// keep stores data under an address without a preview.
func (w *world) keep(data []byte) *contract.Blob {
	b, _ := w.blobs.Put(context.Background(), data)
	b.Preview = ""
	return &b
}

func load(t interface {
	Helper()
	Fatal(args ...any)
}, w *world, transcripted contract.Transcript) []contract.Message {
	t.Helper()
	messages, err := transcript.Load(context.Background(), &w.blobs, transcripted)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}
