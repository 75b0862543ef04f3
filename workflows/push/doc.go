// Package push is the workflow that calls the webhooks of a task with its states.
//
//	push.go     its loop; signals.go its signals
//	webhook.go  one webhook: its queue and its deliveries
//	options.go  timeouts and retries
package push
