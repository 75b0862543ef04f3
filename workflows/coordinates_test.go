package workflows_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// Messages have the coordinates that only the workflow knows, so readers need not derive them.
func TestMessagesHaveCoordinates(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x"), add("y")), says("Added."), asks(add("z")))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		var uuids []string
		for range 2 {
			uuids = append(uuids, s.pending().UUID)
			s.approve()
			s.rest()
		}
		s.say("r2", "once more")
		s.rest()
		uuids = append(uuids, s.pending().UUID)
		s.cancel("c1", "")
		s.rest()
		var called, answered, asked []string
		var outcomes []contract.Outcome
		for _, m := range s.messages() {
			switch {
			case m.ApprovalID != "":
				asked = append(asked, m.ApprovalID)
			case m.ToolCall != nil && m.Role == contract.RoleAssistant:
				called = append(called, m.ID)
			case m.ToolCall != nil:
				answered = append(answered, m.ResultOf)
			case m.Outcome != "":
				outcomes = append(outcomes, m.Outcome)
			}
		}
		same(t, "results of", answered, called[:2])
		same(t, "asked", asked, uuids)
		same(t, "turns ended", outcomes, []contract.Outcome{contract.OutcomeDone, contract.OutcomeCancelled})
	})
}
