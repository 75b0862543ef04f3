package contract

import (
	"crypto/sha1" //nolint:gosec // RFC 9562 §5.5 defines UUIDv5 over SHA-1
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

const (
	conversationPrefix = "conversation-"
	approvalPrefix     = "approval-"
	pushPrefix         = "push-"
	deliveryPrefix     = "delivery-"
)

var uuidPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IsUUID reports whether s is a UUID in its canonical lower-case form. Every identifier from
// outside is checked with it before it becomes part of a workflow ID or a file name.
func IsUUID(s string) bool { return uuidPattern.MatchString(s) }

// ConversationWorkflowID returns the workflow ID of a conversation.
func ConversationWorkflowID(conversationID string) string {
	return conversationPrefix + conversationID
}

// ConversationFile returns the name of the file that a conversation is exported to.
func ConversationFile(conversationID string) string {
	return "conversation_" + conversationID + ".json"
}

// ConversationIDOf is the inverse of ConversationWorkflowID; ok is false for
// any other workflow ID.
func ConversationIDOf(workflowID string) (id string, ok bool) {
	id, ok = strings.CutPrefix(workflowID, conversationPrefix)
	return id, ok && IsUUID(id)
}

// ApprovalWorkflowID returns the workflow ID of an approval, which people signal.
func ApprovalWorkflowID(uuid string) string { return approvalPrefix + uuid }

// PushWorkflowID returns the workflow ID of a task's push notifications.
func PushWorkflowID(conversationID string) string { return pushPrefix + conversationID }

// PushSeal returns the purpose for which a webhook's secrets are sealed: they cannot be opened
// for another webhook or as a caller's token.
func PushSeal(conversationID, url string) string { return PushWorkflowID(conversationID) + " " + url }

// DeliveryWorkflowID returns the workflow ID of a delivery, by the ID of its message.
func DeliveryWorkflowID(messageID string) string { return deliveryPrefix + messageID }

// NodeWorkflowID returns the workflow ID of a composite node: the names of the nodes from the
// root, readable in the Web UI. parent is the workflow ID of the parent node, or that of the
// conversation with the turn.
//
// A name is shortened and cleaned; ~ and the node's index distinguish cleaned names. In a tree
// too deep for an ID of 900 bytes the middle is replaced by a hash.
func NodeWorkflowID(parent, name string, index int) string {
	clean := unreadable.ReplaceAllString(name, "-")
	if len(clean) > maxNodeName {
		clean = clean[:maxNodeName]
	}
	if clean != name {
		clean = fmt.Sprintf("%s~%d", clean, index)
	}
	id := parent + "/" + clean
	if len(id) > maxWorkflowID {
		turn := strings.Join(strings.SplitN(id, "/", 3)[:2], "/")
		id = turn + "/" + Hash([]byte(parent))[:32] + "/" + clean
	}
	return id
}

// Within reports whether run is the workflow of node, or of a node inside it.
func Within(run, node string) bool { return run == node || strings.HasPrefix(run, node+"/") }

// TurnWorkflowID returns the prefix of the workflow IDs of a turn's nodes.
func TurnWorkflowID(conversationID string, turn int) string {
	return fmt.Sprintf("%s/turn-%d", ConversationWorkflowID(conversationID), turn)
}

// IterationWorkflowID returns the prefix of the workflow IDs of an iteration's nodes.
// Iterations count from 1.
func IterationWorkflowID(loop string, iteration int) string {
	return fmt.Sprintf("%s/iteration-%d", loop, iteration)
}

const (
	maxWorkflowID = 900 // the server's own limit is 1000
	maxNodeName   = 100
)

var unreadable = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// CatalogueWorkflowID returns the ID of the workflow that lists the tools, or another
// catalogue, of one configuration.
func CatalogueWorkflowID(configHash string, want CatalogueKind) string {
	id := "catalogue-" + configHash
	if want != WantTools {
		id += "-" + string(want)
	}
	return id
}

// MessageID returns the ID of message number seq of a conversation. It is derived, not random,
// so that a replayed workflow produces the same IDs.
func MessageID(conversationID string, seq int) string {
	return NameUUID(conversationID, fmt.Sprintf("message-%d", seq))
}

// NameUUID derives a UUID from two strings (RFC 9562 §5.5, version 5, over the
// OID name space). The same strings always give the same UUID.
func NameUUID(space, name string) string {
	oid := []byte{0x6b, 0xa7, 0xb8, 0x12, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}
	h := sha1.New() //nolint:gosec // not a security boundary
	h.Write(oid)
	h.Write([]byte(space))
	h.Write([]byte{0})
	h.Write([]byte(name))
	u := h.Sum(nil)[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	s := hex.EncodeToString(u)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// ValidSessionID reports whether a caller's session ID may be stored and forwarded.
func ValidSessionID(s string) bool { return sessionPattern.MatchString(s) }
