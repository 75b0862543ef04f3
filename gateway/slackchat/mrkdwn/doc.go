// Package mrkdwn writes texts for Slack's markup (mrkdwn) and reads texts of people in it.
//
//	text.go     Escape, Cut, FromMarkdown: what others have written cannot mention anybody or forge a link
//	markdown.go Markdown, Settled: the same for streams, which cannot take back what they were sent
//	split.go    Split: long texts as pieces, with fences of code closed and opened again
//	read.go     Plain: a message of a person as text
package mrkdwn
