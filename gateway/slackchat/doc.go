// Package slackchat is Slack as a front end: direct messages to the agent's app and mentions of it,
// over Socket Mode, so that Slack needs no address of the gateway.
//
// A thread is a conversation: its ID is derived from the workspace, the channel and the first message
// of the thread, so nothing has to keep which belongs to which. What a thread shows is a projection of
// the record: the texts of the agent, and a card for each approval. Each message that the app posts has
// metadata that say what it shows. A gateway that starts reads them in the threads of its
// conversations, and goes on: with replies that are being written, and cards of approvals that
// wait or were decided meanwhile.
//
//	slack.go     Chat: its Options, the connection, one gateway at a time
//	place.go     threads, and their conversations
//	events.go    what Slack sends: acknowledged within three seconds, and handled once
//	message.go   messages of people
//	command.go   what their commands may decide: what the thread shows
//	press.go     buttons and the dialog
//	decide.go    decisions, and the messages about them
//	person.go    who a Slack user is
//	link.go      links: users who have proved who they are, in their direct messages
//	invite.go    login links, and the links that they make
//	page.go      the page on which that happens
//	follow.go    follows a conversation while something happens in it
//	posts.go     posts what a thread is to show, changes it, finds it again
//	stream.go    streams what is being written, where Slack takes that
//	settle.go    ends streams, also those of an earlier gateway
//	pace.go      calls of Slack's API, as often as it takes them
//	resume.go    threads of an earlier gateway
//
// projection says what a thread shows of a record; mrkdwn has the markup, card the blocks; fakeslack is
// a Slack for tests.
//
// The app needs the scopes of deploy/slack/manifest.yaml.
package slackchat
