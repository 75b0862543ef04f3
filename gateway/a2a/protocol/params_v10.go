package protocol

import "math"

// The shapes of 1.0. What its proto file calls required is checked; names are as
// in JSON.

var (
	texts         = list(text, 0)
	historyLength = may("historyLength", number(0, math.MaxInt32))
	tenant        = may("tenant", text)
	metadata      = may("metadata", mapping)
)

// The order is that of the proto file: it gives each name its number.
var (
	roleV10  = enum("", "ROLE_USER", "ROLE_AGENT")
	stateV10 = enum("TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING",
		"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED",
		"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED", "TASK_STATE_AUTH_REQUIRED")
)

var partFieldsV10 = proto(
	may("text", text), may("raw", raw), may("url", text), may("data", anything),
	may("filename", text), may("mediaType", text), metadata,
)

func partV10(at string, v any) (any, error) {
	out, err := partFieldsV10(at, v)
	if err != nil {
		return nil, err
	}
	part := out.(map[string]any)
	if part["url"] == "" {
		delete(part, "url")
	}
	return part, exactlyOne(at, part, "text", "raw", "url", "data")
}

func exactlyOne(at string, in map[string]any, names ...string) error {
	n := 0
	for _, name := range names {
		if _, ok := in[name]; ok {
			n++
		}
	}
	switch n {
	case 0:
		return invalid(at, "has no content")
	case 1:
		return nil
	}
	return invalid(at, "has more than one content")
}

var messageV10 = proto(
	must("messageId", name), must("role", roleV10), must("parts", list(partV10, 1)),
	may("contextId", text), may("taskId", text), may("referenceTaskIds", texts),
	may("extensions", texts), metadata,
)

var pushAuthV10 = proto(must("scheme", name), may("credentials", text))

// pushV10 is a push configuration. In a message it may do without the task.
func pushV10(taskID member) shape {
	return proto(must("url", name), taskID, may("id", text), may("token", text),
		may("authentication", pushAuthV10), tenant)
}

var configurationV10 = proto(
	may("acceptedOutputModes", texts), historyLength, may("returnImmediately", flag),
	may("taskPushNotificationConfig", pushV10(may("taskId", text))),
)

var (
	sendV10 = proto(must("message", messageV10), may("configuration", configurationV10), metadata, tenant)
	getV10  = proto(must("id", name), historyLength, tenant)
	idV10   = proto(must("id", name), metadata, tenant)
	setPush = pushV10(must("taskId", name))
	onePush = proto(must("taskId", name), must("id", name), tenant)
	allPush = proto(must("taskId", name), may("pageSize", number(0, math.MaxInt32)), may("pageToken", text), tenant)
	listV10 = listOf(stateV10)
)

// listOf is the request for a list of tasks, which 0.3 has with other states.
func listOf(state shape) shape {
	return proto(
		may("contextId", text), may("status", state), may("pageSize", number(1, 100)), may("pageToken", text),
		historyLength, may("statusTimestampAfter", instantOf), may("includeArtifacts", flag), tenant,
	)
}
