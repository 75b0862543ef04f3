package service

import (
	"context"
	"encoding/json"
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/contract/toolchoice"
	"agent-stop-and-go/workflows/record/transcript"
)

// Message is a user's message to an agent.
type Message struct {
	Text string
	// Preface is text that a program puts in front of it. Readers do not see it.
	Preface string
	// ClientID is the caller's own ID of the message, or "". Its turn can be found by it.
	ClientID string
	Files    []File
	// Tools are tools that the caller carries out in this turn.
	Tools []contract.Tool
	// ToolChoice is what the caller demands of the calls of the turn.
	ToolChoice toolchoice.Choice
	// NoAnswer: the message never answers a waiting question.
	NoAnswer bool
	// Model answers this message, and with KeepModel all later ones too; "" for the model of the
	// conversation.
	Model     string
	KeepModel bool
	// OutputSchema is the JSON Schema of the answer, or nil.
	OutputSchema json.RawMessage
	// Echo is what the caller's protocol repeats in its replies, or nil; see Service.Echo. No model gets it.
	Echo json.RawMessage
}

// File is a file in a message.
type File struct {
	Name, MediaType string
	Data            []byte
}

// signalOf returns the signal for a message, and the values to store for it. It fails if no model of
// the agent takes a file of the message.
func (s *Service) signalOf(ctx context.Context, c Caller, r Request, m Message) (contract.MessageSignal, *stagedValues, error) {
	blobs := &stagedValues{Store: s.blobs}
	signal := contract.MessageSignal{
		RequestID: r.ID, Fingerprint: r.Fingerprint, Name: m.ClientID, Preface: len(m.Preface), NoAnswer: m.NoAnswer, Model: m.Model, KeepModel: m.KeepModel,
		Identity: c.acting(contract.ScopeConverse), OutputSchema: contract.JSON{Raw: m.OutputSchema}, ToolChoice: m.ToolChoice,
	}
	if s.sendRights {
		signal.Groups, signal.Scopes = c.Identity.Groups, c.Identity.Scopes
	}
	var err error
	if signal.Text, err = transcript.Text(ctx, blobs, m.Preface+m.Text); err != nil {
		return signal, nil, err
	}
	if len(m.Echo) > 0 {
		if signal.Echo, err = transcript.JSON(ctx, blobs, m.Echo); err != nil {
			return signal, nil, err
		}
	}
	if signal.Tools, err = toolsOf(ctx, blobs, m.Tools); err != nil {
		return signal, nil, err
	}
	for _, f := range m.Files {
		if problem := s.takes.Problem(m.Model, f.MediaType); problem != "" {
			return signal, nil, Errorf(modality.KindUnsupported, "%s", problem)
		}
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

// Models returns the models that people may choose in a new conversation. It is empty if there is
// nothing to choose from.
func (s *Service) Models() []string { return choice.Names(s.agent) }

// Takes returns what the models of the agent take besides text.
func (s *Service) Takes() modality.Set { return s.takes.Takes("") }

// CheckModel fails if people may not choose a model in a new conversation.
func (s *Service) CheckModel(model string) error { return checkModel(s.agent, model) }

func checkModel(agent contract.Agent, model string) error {
	if problem := choice.Problem(agent, model); problem != "" {
		return Errorf(contract.KindInvalid, "%s", problem)
	}
	return nil
}

func toolsOf(ctx context.Context, blobs *stagedValues, tools []contract.Tool) (contract.JSON, error) {
	if len(tools) == 0 {
		return contract.JSON{}, nil
	}
	raw, err := json.Marshal(tools)
	if err != nil {
		return contract.JSON{}, err
	}
	return transcript.JSON(ctx, blobs, raw)
}
