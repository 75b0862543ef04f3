// Package passcode makes one-time codes with which people decide approvals in a chat that has only
// text, and the cards that show them. It knows no HTTP and no protocol.
//
// passcode.go  Codes, and Parse, which reads a decision
// card.go      Card: an approval as a text
//
// A code is about one approval, what it shows (its digest) and one person. It is an HMAC with the
// gateway's keys, so no gateway keeps it, and every gateway of the agent knows it. It holds for ten
// minutes. It holds once, because an approval is decided once. Of its 50 bits, those who guess have
// to hit one of the ten codes that hold at a time.
//
// Whether the person may decide is not decided here: a code is what a button is elsewhere.
package passcode
