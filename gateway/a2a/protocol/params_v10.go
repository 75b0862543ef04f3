package protocol

import "math"

// The shapes of 1.0. Members that the proto file calls required are checked. Names are the
// JSON names.

var (
	texts         = list(text, 0)
	historyLength = optional("historyLength", number(0, math.MaxInt32))
	tenant        = optional("tenant", text)
	metadata      = optional("metadata", mapping)
)

// The order is that of the proto file: the position of a name is its number.
var (
	roleV10  = enum("", "ROLE_USER", "ROLE_AGENT")
	stateV10 = enum("TASK_STATE_UNSPECIFIED", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING",
		"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED",
		"TASK_STATE_INPUT_REQUIRED", "TASK_STATE_REJECTED", "TASK_STATE_AUTH_REQUIRED")
)

var partFieldsV10 = proto(
	optional("text", text), optional("raw", raw), optional("url", text), optional("data", anything),
	optional("filename", text), optional("mediaType", text), metadata,
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
	required("messageId", name), required("role", roleV10), required("parts", list(partV10, 1)),
	optional("contextId", text), optional("taskId", text), optional("referenceTaskIds", texts),
	optional("extensions", texts), metadata,
)

var pushAuthV10 = proto(required("scheme", name), optional("credentials", text))

// pushV10 is a push configuration. In a message the task's ID may be missing.
func pushV10(taskID member) shape {
	return proto(required("url", name), taskID, optional("id", text), optional("token", text),
		optional("authentication", pushAuthV10), tenant)
}

var configurationV10 = proto(
	optional("acceptedOutputModes", texts), historyLength, optional("returnImmediately", flag),
	optional("taskPushNotificationConfig", pushV10(optional("taskId", text))),
)

var (
	sendV10 = proto(required("message", messageV10), optional("configuration", configurationV10), metadata, tenant)
	getV10  = proto(required("id", name), historyLength, tenant)
	idV10   = proto(required("id", name), metadata, tenant)
	setPush = pushV10(required("taskId", name))
	onePush = proto(required("taskId", name), required("id", name), tenant)
	allPush = proto(required("taskId", name), optional("pageSize", number(0, math.MaxInt32)), optional("pageToken", text), tenant)
	listV10 = listOf(stateV10)
)

// listOf is the request for a list of tasks. In 0.3 it has other states.
func listOf(state shape) shape {
	return proto(
		optional("contextId", text), optional("status", state), optional("pageSize", number(1, 100)), optional("pageToken", text),
		historyLength, optional("statusTimestampAfter", instantOf), optional("includeArtifacts", flag), tenant,
	)
}
