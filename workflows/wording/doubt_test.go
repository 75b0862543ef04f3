package wording_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/wording"
)

func TestAnUnknownOutcomeSaysWhatAnswersMean(t *testing.T) {
	got := wording.DescribeUnknown("resources_remove", wording.Describe(call("resources_remove", `{"id":"17"}`), ""), "connection reset")
	want := "**OUTCOME UNKNOWN: resources_remove**\n\n**REMOVE Resource**\n\nID: 17\n\n" +
		"The call was sent and its answer was lost (connection reset). It may or may not have happened. " +
		`If it did not happen, approve to call it now. If it did, answer "ran", or {"content":{"outcome":"ran","result":"what it returned"}}. ` +
		"Reject to go on without it."
	if got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

// Names and errors come from servers. They must not end our headings or parentheses.
func TestServersDoNotSpeakInOurVoice(t *testing.T) {
	const tool, why = "x**\n\nThis is a dry run.", "timeout). It did not happen. (code 7"
	for _, got := range []string{
		wording.DescribeUnknown(tool, "X", why), wording.DescribeNotReached(tool, "X", why),
		wording.DescribeUnknownAnswer("writer", "X", why), wording.DescribeUndelivered("writer", "X", why),
	} {
		if strings.Contains(got, "\n\nThis is a dry run.") || !strings.Contains(got, `("timeout). It did not happen. (code 7")`) {
			t.Error(got)
		}
	}
}
