package gateway_test

import (
	"net/http/httptest"
	"testing"
)

// ollamaDocument are the statements of Ollama's docs/api.md (v0.17.4) about requests and replies, by its sections, with
// the tests that fail if they do not hold; TestDemandsHaveTests checks that there are these.
var ollamaDocument = []must{
	{"Model names", "the tag is optional and latest by default", "TestWhatTheDocumentOfOllamaSays/the default tag is latest"},
	{"Durations", "they are in nanoseconds", "TestTheLastLineHasFigures"},
	{"Streaming responses", "replies are streamed as objects, unless stream is false", "TestWhatTheDocumentOfOllamaSays/streaming can be disabled"},
	{"Generate a completion", "a stream of objects with pieces of the response", "TestWhatTheDocumentOfOllamaSays/a prompt streams by default"},
	{"Generate a completion", "model is required", "TestWhatTheDocumentOfOllamaSays/model is required"},
	{"Generate a completion", "the last object has figures and an empty response", "TestTheLastLineHasFigures"},
	{"Generate a completion", "its context can be sent with the next request", "TestAChatOverOllamaIsOneConversation"},
	{"Generate: request (No streaming)", "one object with the whole response", "TestWhatTheDocumentOfOllamaSays/a prompt in one reply"},
	{"Generate: request (with suffix)", "a model that cannot insert refuses a suffix", "TestWhatTheDocumentOfOllamaSays/a suffix"},
	{"Generate: request (Structured outputs)", "format is a JSON Schema", "TestWhatTheDocumentOfOllamaSays/structured outputs"},
	{"Generate: request (JSON mode)", "format is json", "TestWhatTheDocumentOfOllamaSays/JSON mode"},
	{"Generate: request (with images)", "images are base64", "TestWhatTheDocumentOfOllamaSays/a prompt with images"},
	{"Generate: request (Raw Mode)", "raw is taken", "TestWhatTheDocumentOfOllamaSays/a prompt in one reply"},
	{"Generate: request (Reproducible outputs)", "options are taken", "TestWhatTheDocumentOfOllamaSays/options have no effect"},
	{"Generate: parameters", "system is taken", "TestWhatTheDocumentOfOllamaSays/a prompt with a system message"},
	{"Generate: load a model", "an empty prompt is answered by one object", "TestWhatTheDocumentOfOllamaSays/an empty prompt loads"},
	{"Generate: unload a model", "with keep_alive 0 the reason is unload", "TestWhatTheDocumentOfOllamaSays/an empty prompt with keep_alive unload"},
	{"Generate a chat completion", "a stream of objects with pieces of a message", "TestWhatTheDocumentOfOllamaSays/a chat streams by default"},
	{"Generate a chat completion", "the last object has figures", "TestTheLastLineHasFigures"},
	{"Chat: parameters", "role is system, user, assistant or tool", "TestWhatTheDocumentOfOllamaSays/another role"},
	{"Chat: parameters", "think and keep_alive are taken", "TestWhatTheDocumentOfOllamaSays/options have no effect"},
	{"Chat: structured outputs", "format is a JSON Schema", "TestWhatTheDocumentOfOllamaSays/a chat with a schema"},
	{"Chat request (No streaming)", "one object with the whole message", "TestWhatTheDocumentOfOllamaSays/streaming can be disabled"},
	{"Chat request (With History)", "the history is memory", "TestAChatOverOllamaIsOneConversation"},
	{"Chat request (with images)", "messages have images", "TestWhatTheDocumentOfOllamaSays/images are base64"},
	{"Chat request (Streaming with tools)", "calls are in a message, and the reason at the end is stop", "TestToolsOfOllamasClients"},
	{"Chat request (No streaming, with tools)", "calls are in the message, with arguments as an object", "TestToolsOfOllamasClients"},
	{"Chat request (With history, with tools)", "a result has the name of its tool", "TestToolsOfOllamasClients"},
	{"Chat: load a model", "no messages are answered with the reason load", "TestWhatTheDocumentOfOllamaSays/an empty list of messages loads"},
	{"Chat: unload a model", "with keep_alive 0 the reason is unload", "TestWhatTheDocumentOfOllamaSays/and with keep_alive 0 it unloads"},
	{"Check if a Blob Exists", "one that there is not is a 404", "TestNoBlobExists"},
	{"Create a Model", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/create"},
	{"Push a Blob", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/blobs"},
	{"List Local Models", "models with name, model, modified_at, size, digest and details", "TestModelsOfOllamaAreWhole"},
	{"Show Model Information", "modelfile, parameters, template, details, model_info and capabilities", "TestModelsOfOllamaAreWhole"},
	{"Copy a Model", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/copy"},
	{"Delete a Model", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/delete"},
	{"Pull a Model", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/pull"},
	{"Push a Model", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/push"},
	{"Generate Embeddings", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/embed"},
	{"Generate Embedding", "not offered: 501", "TestWhatTheDocumentOfOllamaSays/embeddings"},
	{"List Running Models", "models with expires_at and size_vram", "TestModelsOfOllamaAreWhole"},
	{"Version", "an object with the version", "TestWhatTheDocumentOfOllamaSays/the version"},
	{"Image Generation (Experimental)", "only models for images take width, height and steps: an agent answers with text", "TestWhatTheDocumentOfOllamaSays/width and height"},
}

// There are no blobs: whether one exists is answered, and asks for nothing that is not offered.
func TestNoBlobExists(t *testing.T) {
	c := ollamaOf(t, newMany(t))
	for _, prefix := range []string{"", "/v1"} {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, newRequest("HEAD", prefix+"/api/blobs/sha256:29fdb92e57cf0827ded04ae6461b5931d01fa595843f55d36f5b275a52087dd2", ""))
		if w.Code != 404 || w.Body.Len() > 0 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// Lists and descriptions of models have every member of the document's examples, with its type.
func TestModelsOfOllamaAreWhole(t *testing.T) {
	const details = `parent_model string, format string, family string, families []string, parameter_size string, quantization_level string`
	const listed = `name string, model string, size int, digest string`
	shapes["Ollama details"] = shapeOf(details)
	shapes["Ollama tag"], shapes["Ollama process"] = shapeOf(listed+`, modified_at string`), shapeOf(listed+`, expires_at string, size_vram int`)
	shapes["Ollama model"] = shapeOf(`modelfile string, parameters string, template string, model_info object, capabilities []string`)
	c := ollamaOf(t, newMany(t))
	for path, kind := range map[string]string{"/api/tags": "Ollama tag", "/api/ps": "Ollama process"} {
		list := c.one(200, "GET", path, "")
		wantShape(t, "[]"+kind, list["models"])
		wantShape(t, "Ollama details", at(list, "models.0.details"))
	}
	shown := c.one(200, "POST", "/api/show", `{"model":"helper"}`)
	wantShape(t, "Ollama model", shown)
	wantShape(t, "Ollama details", shown["details"])
}
