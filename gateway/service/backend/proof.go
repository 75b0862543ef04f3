package backend

import (
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/contract/title"
)

// withProof returns the input of a conversation with the proof of its owner. Nothing in it may
// change after that.
func (t *Temporal) withProof(in service.StartInput) (service.StartInput, error) {
	var err error
	in.Conversation.Proof, err = t.prove(
		contract.ConversationWorkflowID(in.Conversation.ID), contract.WorkflowConversation, in.Conversation.Owner, in.Conversation.Start())
	return in, err
}

// proven returns a signal of a conversation, or a change of a singleton, with the proof of the identity in
// it.
func (t *Temporal) proven(workflowID, name string, payload any) (any, error) {
	var err error
	switch p := payload.(type) {
	case contract.MessageSignal:
		p.Proof, err = t.prove(workflowID, name, p.Identity, p)
		return p, err
	case contract.CancelSignal:
		p.Proof, err = t.prove(workflowID, name, p.Identity, p)
		return p, err
	case contract.CloseSignal:
		p.Proof, err = t.prove(workflowID, name, p.Identity, p)
		return p, err
	case title.Rename:
		p.Proof, err = t.prove(workflowID, name, p.Identity, p)
		return p, err
	case switches.Change:
		p.Proof, err = t.prove(workflowID, name, p.Identity, p)
		return p, err
	case switches.LimitChange:
		p.Proof, err = t.prove(workflowID, name, p.Identity, p)
		return p, err
	case review.Release:
		p.Proof, err = t.prove(workflowID, name, p.Identity, p)
		return p, err
	case deputy.Change:
		p.Proof, err = t.prove(workflowID, name, contract.Identity{Subject: p.By.Subject, Issuer: p.By.Issuer}, p)
		return p, err
	case standing.Revocation:
		p.Proof, err = t.prove(workflowID, name, p.By.Identity(), p)
		return p, err
	}
	return payload, nil
}

// prove returns the proof of an identity in what is sent to a workflow, or "" without one.
func (t *Temporal) prove(workflowID, name string, identity contract.Identity, payload any) (string, error) {
	if !identity.Authenticated() || t.keyring == nil {
		return "", nil
	}
	return t.keyring.Prove(workflowID, name, payload)
}
