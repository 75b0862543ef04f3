package e2e_test

import "testing"

// TestATaskThatWaitsIsFoundByItsContext sends the next message at once, and again to a process
// that has not cached the task.
func TestATaskThatWaitsIsFoundByItsContext(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, process := h.outside()
	send := func(id, text string) rpcReply {
		return api.rpc("SendMessage", map[string]any{"message": map[string]any{
			"messageId": id, "contextId": "context-1", "role": "ROLE_USER", "parts": []any{map[string]any{"text": text}},
		}})
	}
	task := send("m-1", `call note_add {"name":"apple"}`).at("result", "task", "id")
	told := func(got rpcReply) {
		t.Helper()
		if got.at("result", "task", "id") != task || !contains(got.raw, "of this context waits") || contains(got.raw, "TASK_STATE_COMPLETED") {
			t.Errorf("the answer is %s", got.raw)
		}
	}
	told(send("m-2", "approved"))
	process.kill()
	api, _ = h.outside()
	told(send("m-3", "approved"))
	if calls := h.tools.called("note_add"); len(calls) != 0 {
		t.Errorf("the tool ran %d times", len(calls))
	}
	asked := *api.conversation(task.(string)).PendingApproval
	api.rpc("SendMessage", map[string]any{"message": map[string]any{
		"messageId": "m-4", "contextId": "context-1", "role": "ROLE_USER", "parts": []any{map[string]any{
			"data": map[string]any{"id": asked.UUID, "response": map[string]any{"confirmed": true}}, "metadata": map[string]any{"adk_type": "function_response"},
		}},
	}})
	if calls := h.tools.called("note_add"); len(calls) != 1 {
		t.Errorf("the tool ran %d times", len(calls))
	}
	if got := send("m-5", "say free again"); !contains(got.raw, "TASK_STATE_COMPLETED") {
		t.Errorf("the next message: %s", got.raw)
	}
}
