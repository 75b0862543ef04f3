// Package credential seals a caller's bearer token, so that it can be stored in Temporal's
// history without being readable there, and proves to workflows what the gateway has sent.
//
//	ring, err := credential.NewKeyring(key)
//	sealed, err := ring.Seal(conversationID, credential.NewToken(bearer)) // in the gateway
//	token, err := ring.Open(conversationID, sealed, time.Now())          // in an activity
//
// A sealed token is AES-256-GCM over the token and its expiry, with the conversation's ID as
// additional data: it can be opened for that conversation only. The envelope names the key, so
// keys can be rotated: the first key of a ring seals, and any of them opens. This package never
// formats a token or puts one into an error.
//
// credential.go has the keyring and the context of an activity. stored.go keeps a long sealed
// token in the blob store, because every call repeats it. proof.go proves payloads with the same
// keys. Package header takes the sealed token from workflows to activities.
package credential
