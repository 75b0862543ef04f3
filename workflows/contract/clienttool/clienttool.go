// Package clienttool has the wire form of the result of a call that the sender of a message executes
// (contract.ReasonClientTool).
package clienttool

// Schema is that of the approval that waits for the result. The content of its answer is a Result.
const Schema = `{"type":"object","properties":{"content":{"type":"string"},"is_error":{"type":"boolean"}},"required":["content"]}`

// MaxResult is the maximum size of a Result in bytes, as JSON. It is that of every answer, because it is stored in history.
const MaxResult = 32 << 10

// Result is what the sender brings.
type Result struct {
	Content string `json:"content"`
	IsError bool   `json:"is_error,omitempty"`
}
