// Package network decides which addresses chosen by others may be connected to: those of
// webhooks, redirects and agent cards. CheckWebhook checks a URL when it is configured;
// Reach.Allows has to be asked again for each address when it is dialled, because a name may
// resolve to another address by then (package activities/outbound does that).
package network
