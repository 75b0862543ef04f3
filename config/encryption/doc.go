// Package encryption encrypts what a Temporal server stores of conversations, so that whoever
// reads its database, or runs the server, reads none of their texts.
//
//	codec, err := settings.Open(getenv)                       // nil without keys
//	grpc.WithChainUnaryInterceptor(…, codec.Interceptor(log)) // the last one: the others see clear text
//
// # Where it happens
//
// The interceptor of a connection encrypts each payload of a request, and decrypts each of a
// response. So everything that a client sends is covered, and code that reads memos or histories
// needs to know nothing of it: inputs and results of workflows and activities, signals, queries,
// updates, memos, headers, markers, summaries and details, messages and stack traces of failures.
// In clear remain what the server must read: search attributes, names and IDs, times and sizes,
// types of failures, and the reasons that people give for a termination or a reset. The values of
// the blob store are encrypted with the same keys (Seal, Open).
//
// # The form
//
// An encrypted payload has the metadata encoding=binary/encrypted and encryption-key-id. Its data
// are a nonce and, by AES-256-GCM, the payload itself. Another payload is read as it is: a signal
// that a person types, or what was stored before encryption was configured.
//
// # A missing key
//
// New values are encrypted by the first key, and read by any. A task with a value of another key
// is not given to the SDK, which would fail the workflow, but back to the server, with a failure
// that names the key. The server repeats it until a worker has that key. This holds without any
// key too, so every connection has the interceptor; without keys it looks for encrypted values in the
// bytes of a response (sealed.go) before it visits those that were decoded. An attempt of an activity counts although it
// is given back. One after an attempt without a report is not given back but left to its timeout:
// nothing may say that a call did not run while an earlier attempt may have made it.
package encryption
