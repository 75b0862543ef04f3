package encryption

// Request returns an encrypted copy of a message.
var Request = (*Codec).request

// HasMark reports whether a message has bytes for which its values are visited.
var HasMark = hasMark
