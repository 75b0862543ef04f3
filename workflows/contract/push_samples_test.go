package contract_test

import (
	"time"

	. "agent-stop-and-go/workflows/contract"
)

func pushConfig() PushConfig {
	return PushConfig{ID: "push-1", URL: "https://example.com/hook", Token: sealed, Scheme: "Bearer", Credentials: sealed, Protocol: PushProtocol1}
}

func pushNews() PushState {
	return PushState{State: TaskWorking, Version: 7, ContextID: "context-1", At: noon}
}

func pushItem() PushItem { return PushItem{ID: requestID, State: pushNews(), Since: noon} }

func pushOutcome() PushOutcome {
	return PushOutcome{State: TaskWorking, At: noon, Why: "the webhook answered 400"}
}

func pushTarget() PushTarget {
	outcome := pushOutcome()
	return PushTarget{Config: pushConfig(), Queue: []PushItem{pushItem()}, Delivered: &outcome, Failed: &outcome}
}

func pushCarried() PushCarried {
	last := pushNews()
	return PushCarried{Targets: []PushTarget{pushTarget()}, Last: &last, Gone: true, Seq: 3, EndsAt: noon.Add(time.Hour)}
}

func pushSamples() map[string]any {
	over := pushCarried()
	return map[string]any{
		"PushConfig":       pushConfig(),
		"PushConfig-plain": PushConfig{ID: "push-1", URL: "https://example.com/hook"},
		"PushDelete":       PushDelete{ID: "push-1"},
		"PushState":        pushNews(),
		"PushInput":        PushInput{ConversationID: conversationID, Coming: true, Carried: &over},
		"PushInput-first":  PushInput{ConversationID: conversationID},
		"PushCarried":      over,
		"PushTarget":       pushTarget(),
		"PushItem":         pushItem(),
		"PushOutcome":      pushOutcome(),
		"PushView":         PushView{Configs: []PushConfig{pushConfig()}, State: TaskCompleted, Long: true},
		"PushResult":       PushResult{ConversationID: conversationID, Notifications: 3},
		"NotifyInput":      NotifyInput{ID: requestID, ConversationID: conversationID, Config: pushConfig(), State: pushNews()},
		"NotifyResult":     NotifyResult{Status: 410, Gone: true},
	}
}
