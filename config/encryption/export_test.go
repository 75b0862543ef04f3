package encryption

// Request returns an encrypted copy of a message.
var Request = (*Codec).request
