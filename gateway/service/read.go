package service

import (
	"context"
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// Conversation reads a conversation from its workflow and, if requestID is not empty, the
// state of that request.
func (s *Service) Conversation(ctx context.Context, id, requestID string) (contract.ConversationView, error) {
	return s.backend.Conversation(ctx, id, requestID)
}

// SharedConversation is Conversation without a request. Concurrent callers share one read:
// after a network failure many reconnect at once.
func (s *Service) SharedConversation(ctx context.Context, id string) (contract.ConversationView, error) {
	if err := s.See(ctx, id); err != nil {
		return contract.ConversationView{}, err
	}
	read := s.reads.DoChan(id, func() (view any, err error) {
		ctx, cancel := context.WithTimeout(ActingItself(s.closing), loadTimeout)
		defer cancel()
		err = Guard(func() error { // a panic here would end the process
			view, err = s.backend.Conversation(ctx, id, "")
			return err
		})
		return view, err
	})
	select {
	case r := <-read:
		view, _ := r.Val.(contract.ConversationView)
		return view, r.Err
	case <-ctx.Done():
		return contract.ConversationView{}, ctx.Err()
	}
}

// Record returns the record of a conversation: its entries, with stored values loaded.
func (s *Service) Record(ctx context.Context, view contract.ConversationView) (*record.State, error) {
	return record.Load(ctx, s.blobs, view, nil)
}

// State reads a conversation, and returns its record.
func (s *Service) State(ctx context.Context, id string) (*record.State, error) {
	view, err := s.Conversation(ctx, id, "")
	if err != nil {
		return nil, err
	}
	return s.Record(ctx, view)
}

// Part selects the messages of a conversation: the newest page, or all if Whole is set.
type Part struct {
	Whole bool
	// First selects the newest page of the first messages, as many as it says; 0 means all
	// messages.
	First int
}

// Render returns a conversation as a document.
func (s *Service) Render(ctx context.Context, view contract.ConversationView, part Part) (document.Conversation, error) {
	if part.Whole {
		return document.Render(ctx, s.blobs, view)
	}
	return document.RenderPage(ctx, s.blobs, view, part.First)
}

// Pending returns an approval with stored values loaded.
func (s *Service) Pending(ctx context.Context, p contract.PendingApproval) (contract.PendingApproval, error) {
	return document.Pending(ctx, s.blobs, p)
}

// Tree returns how the last turn of a conversation went through the agent's tree.
func (s *Service) Tree(ctx context.Context, id string) (document.Tree, error) {
	view, err := s.backend.Tree(ctx, id)
	if err != nil {
		return document.Tree{}, err
	}
	return document.RenderTree(ctx, s.blobs, view)
}

// List returns a page of conversations, newest first.
func (s *Service) List(ctx context.Context, q ListQuery) (Page[Item], error) {
	return s.backend.List(ctx, q)
}

// Summary counts the conversations. The result may be a second old.
func (s *Service) Summary(ctx context.Context) (Summary, error) {
	caller, _ := Acting(ctx)
	return s.summaries.of(caller).get(ctx)
}

// Tasks returns a page of A2A tasks.
func (s *Service) Tasks(ctx context.Context, q TaskQuery) (TaskPage, error) {
	return s.backend.Tasks(ctx, q)
}

// RunningIn lists the newest running tasks of a context.
func (s *Service) RunningIn(ctx context.Context, contextID string, limit int) ([]string, error) {
	return s.backend.RunningIn(ctx, contextID, Whose{}, limit)
}

func (s *Service) Approval(ctx context.Context, uuid string) (contract.ApprovalView, error) {
	return s.backend.Approval(ctx, uuid)
}

// Typist returns what the client of Temporal that typed a decision calls itself, which nothing
// proves; "" for a decision that was not typed.
func (s *Service) Typist(ctx context.Context, record contract.ApprovalResult) (string, error) {
	typed := record.Decision == contract.Approved || record.Decision == contract.Rejected
	if !typed || record.Via != contract.ChannelSignal || record.Identity.Authenticated() {
		return "", nil
	}
	return s.backend.Typist(ctx, record.UUID)
}

// Subject returns what an approval is about, for a caller that is about to decide it. It
// needs no worker, and finishes even if the caller disconnects.
func (s *Service) Subject(ctx context.Context, uuid string) (Subject, error) {
	ctx, cancel := detached(ctx)
	defer cancel()
	return s.backend.Subject(ctx, uuid)
}

// Webhooks returns the webhooks of tasks.
func (s *Service) Webhooks() Pushes { return s.backend }

// Catalogue returns the tools of a worker. The result may be some seconds old.
func (s *Service) Catalogue(ctx context.Context) (contract.Catalogue, error) {
	return s.catalogue.get(ctx)
}

// Resources returns the resources of all tool servers. The result may be a minute old.
func (s *Service) Resources(ctx context.Context) (contract.ResourceCatalogue, error) {
	return s.resources.get(ctx)
}

// Prompts returns the prompts of all tool servers. The result may be a minute old.
func (s *Service) Prompts(ctx context.Context) (contract.PromptCatalogue, error) {
	return s.prompts.get(ctx)
}

// Ping fails if Temporal does not answer.
func (s *Service) Ping(ctx context.Context) error { return s.backend.Ping(ctx) }

// Echo returns what came as Echo with a message or a decision, nil if nothing did.
func (s *Service) Echo(ctx context.Context, e contract.JSON) (json.RawMessage, error) {
	return transcript.ReadJSON(ctx, s.blobs, e)
}
