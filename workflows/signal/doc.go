// Package signal reads signals of workflows. People type them, so what does not fit is not
// dropped: the workflow gets it as raw JSON, and may say what is wrong with it.
package signal
