package protocol

import (
	a2alegacy "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// The shapes of 0.3. The kind of a message may be missing.

var roleV03 = oneOf("user", "agent")

var partsV03 = map[string]shape{
	"text": object(required("kind", text), required("text", text), metadata),
	"file": object(required("kind", text), required("file", fileV03), metadata),
	"data": wrapped(object(required("kind", text), required("data", anything), metadata)),
}

func partV03(at string, v any) (any, error) {
	in, ok := v.(map[string]any)
	if !ok {
		return nil, invalid(at, "must be an object")
	}
	kind, _ := in["kind"].(string)
	part, ok := partsV03[kind]
	if !ok {
		return nil, invalid(at+".kind", `must be "text", "file" or "data"`)
	}
	return part(at, v)
}

var fileFieldsV03 = object(optional("bytes", raw), optional("uri", text), optional("name", text), optional("mimeType", text))

func fileV03(at string, v any) (any, error) {
	out, err := fileFieldsV03(at, v)
	if err != nil {
		return nil, err
	}
	file := out.(map[string]any)
	for _, name := range []string{"bytes", "uri"} {
		if file[name] == "" {
			delete(file, name)
		}
	}
	return file, exactlyOne(at, file, "bytes", "uri")
}

// wrapped lets a data part hold values other than objects, wrapped as the SDK does it.
func wrapped(part shape) shape {
	return func(at string, v any) (any, error) {
		out, err := part(at, v)
		if err != nil {
			return nil, err
		}
		fields := out.(map[string]any)
		if _, ok := fields["data"].(map[string]any); !ok {
			meta := map[string]any{}
			if given, ok := fields["metadata"].(map[string]any); ok {
				meta = given
			}
			meta["data_part_compat"] = true
			fields["data"], fields["metadata"] = map[string]any{"value": fields["data"]}, meta
		}
		return fields, nil
	}
}

var messageV03 = object(
	optional("kind", oneOf("message")), required("messageId", name), required("role", roleV03), required("parts", list(partV03, 1)),
	optional("contextId", text), optional("taskId", text), optional("referenceTaskIds", texts),
	optional("extensions", texts), metadata,
)

var pushV03 = object(
	required("url", name), optional("id", text), optional("token", text),
	optional("authentication", object(required("schemes", list(text, 1)), optional("credentials", text))),
)

var configurationV03 = object(
	optional("acceptedOutputModes", texts), optional("blocking", flag), historyLength, optional("pushNotificationConfig", pushV03),
)

var (
	sendV03    = object(required("message", messageV03), optional("configuration", configurationV03), metadata)
	getV03     = object(required("id", name), historyLength, metadata)
	idV03      = object(required("id", name), metadata)
	setPushV03 = object(required("taskId", name), required("pushNotificationConfig", pushV03))
	getPushV03 = object(required("id", name), optional("pushNotificationConfigId", text), metadata)
	delPushV03 = object(required("id", name), required("pushNotificationConfigId", name), metadata)
	listV03    = listOf(stateV03)
	noParams   = object()
)

// stateV03 converts a state to its 1.0 name.
func stateV03(at string, v any) (any, error) {
	if s, ok := v.(string); ok {
		if state := a2av0.ToV1TaskState(a2alegacy.TaskState(s)); state != "" {
			return string(state), nil
		}
	}
	return stateV10(at, v)
}
