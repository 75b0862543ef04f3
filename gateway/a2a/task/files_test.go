package task_test

import (
	"encoding/json"
	"testing"

	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/workflows/contract"
)

func TestFilesOfATaskHaveNamesAndAddresses(t *testing.T) {
	w := newWorld()
	w.says("make files")
	w.write(contract.Message{Role: contract.RoleTool, ToolCall: &contract.ToolCall{
		Media: []contract.Media{
			{Blob: contract.Blob{SHA256: "s1"}, MIMEType: "text/plain", Name: "file:///output.txt"},
			{Blob: contract.Blob{SHA256: "s2"}, MIMEType: "image/png"},
		},
		Links: []contract.Link{{URI: "https://x.example/a.pdf", Name: "The plan", MIMEType: "application/pdf"}},
	}})
	w.write(contract.Message{Role: contract.RoleTool, ToolCall: &contract.ToolCall{Links: []contract.Link{{URI: "demo://notes/7"}}}})
	w.ends(contract.OutcomeDone, "made")
	raw, err := json.Marshal(w.src.Task(task.Shape{}).Artifacts[0].Parts)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"text":"made"},` +
		`{"filename":"output.txt","mediaType":"text/plain","metadata":{"agent-stop-and-go/uri":"file:///output.txt"},"url":"http://media/s1"},` +
		`{"mediaType":"image/png","url":"http://media/s2"},` +
		`{"filename":"The plan","mediaType":"application/pdf","url":"https://x.example/a.pdf"},` +
		`{"filename":"7","url":"demo://notes/7"}]`
	if compact(string(raw)) != compact(want) {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}
