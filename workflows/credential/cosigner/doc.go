// Package cosigner has the keys of witnesses, which countersign the checkpoints of logs: Ed25519 keys for
// timestamped signatures (C2SP tlog-cosignature, cosignature/v1). A public key is a verifier key of type
// 0x04, NAME+HASH+BASE64; those of type 0x06 (ML-DSA-44) of other witnesses are read too.
//
//	key.go   private keys, and the file with one   verifier.go   public keys
package cosigner
