// Package hook makes the bodies of web hook notifications: Reader.Task loads a conversation and
// returns it as an A2A task, in the protocol version that the subscriber asked for. It serves
// nothing itself: the worker sends the notifications, and package server/hooks gives it a Reader.
package hook
