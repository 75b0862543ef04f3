package service

import (
	"context"
	"encoding/json"
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Message is what a user says to an agent.
type Message struct {
	Text string
	// Preface is text of a program in front of it, which readers are not shown.
	Preface string
	// ClientID is the caller's own ID of the message, by which its turn can be found; "" is
	// none.
	ClientID string
	Files    []File
	// Tools are those that the caller carries out in this turn.
	Tools []contract.Tool
	// NoAnswer: the message is never the answer to a question that waits.
	NoAnswer bool
}

// File is a file beside the text of a message.
type File struct {
	Name, MediaType string
	Data            []byte
}

// signalOf is the signal that carries a message, and what it refers to by address.
func (s *Service) signalOf(ctx context.Context, c Caller, r Request, m Message) (contract.MessageSignal, *staged, error) {
	blobs := &staged{Store: s.blobs}
	signal := contract.MessageSignal{
		RequestID: r.ID, Fingerprint: r.Fingerprint, Name: m.ClientID, Preface: len(m.Preface), NoAnswer: m.NoAnswer,
	}
	var err error
	if signal.Text, err = transcript.Text(ctx, blobs, m.Preface+m.Text); err != nil {
		return signal, nil, err
	}
	if signal.Tools, err = toolsOf(ctx, blobs, m.Tools); err != nil {
		return signal, nil, err
	}
	for _, f := range m.Files {
		b, err := blobs.Put(ctx, f.Data)
		if err != nil {
			return signal, nil, fmt.Errorf("keep a file of %d bytes: %w", len(f.Data), err)
		}
		b.Preview = ""
		signal.Media = append(signal.Media, contract.Media{Blob: b, MIMEType: f.MediaType, Name: f.Name})
	}
	signal.Credential, err = s.seal(c, r.ConversationID)
	return signal, blobs, err
}

func toolsOf(ctx context.Context, blobs *staged, tools []contract.Tool) (contract.JSON, error) {
	if len(tools) == 0 {
		return contract.JSON{}, nil
	}
	raw, err := json.Marshal(tools)
	if err != nil {
		return contract.JSON{}, err
	}
	return transcript.JSON(ctx, blobs, raw)
}
