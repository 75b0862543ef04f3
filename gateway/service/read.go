package service

import (
	"context"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
)

// Conversation reads a conversation as its workflow shows it, and what it remembers of a
// request when requestID is not empty.
func (s *Service) Conversation(ctx context.Context, id, requestID string) (contract.ConversationView, error) {
	return s.backend.Conversation(ctx, id, requestID)
}

// SharedConversation is Conversation without a request. The conversation is read once for
// all who ask at the same time, of whom there are many when connections broke.
func (s *Service) SharedConversation(ctx context.Context, id string) (contract.ConversationView, error) {
	read := s.reads.DoChan(id, func() (view any, err error) {
		ctx, cancel := context.WithTimeout(s.closing, loadTimeout)
		defer cancel()
		err = Guard(func() error { // or a panic would end the process
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

// Record is the record of a conversation: its entries, with every value in place.
func (s *Service) Record(ctx context.Context, view contract.ConversationView) (*record.State, error) {
	return record.Load(ctx, s.blobs, view, nil)
}

// Part says which of a conversation's messages a reader wants: the newest page of them, unless
// it is to be Whole.
type Part struct {
	Whole bool
	// First takes the newest page of so many first messages; 0 is all.
	First int
}

// Render is a conversation as a document.
func (s *Service) Render(ctx context.Context, view contract.ConversationView, part Part) (document.Conversation, error) {
	if part.Whole {
		return document.Render(ctx, s.blobs, view)
	}
	return document.RenderPage(ctx, s.blobs, view, part.First)
}

// Pending is an approval with its values in place.
func (s *Service) Pending(ctx context.Context, p contract.PendingApproval) (contract.PendingApproval, error) {
	return document.Pending(ctx, s.blobs, p)
}

// Tree is how the last turn of a conversation goes through the agent's tree.
func (s *Service) Tree(ctx context.Context, id string) (document.Tree, error) {
	view, err := s.backend.Tree(ctx, id)
	if err != nil {
		return document.Tree{}, err
	}
	return document.RenderTree(ctx, s.blobs, view)
}

// List is a page of conversations, the newest first.
func (s *Service) List(ctx context.Context, q ListQuery) (Page[Item], error) {
	return s.backend.List(ctx, q)
}

// Summary counts the conversations. It may be a second old.
func (s *Service) Summary(ctx context.Context) (Summary, error) { return s.summary.get(ctx) }

// Tasks is a page of the tasks of A2A.
func (s *Service) Tasks(ctx context.Context, q TaskQuery) (TaskPage, error) {
	return s.backend.Tasks(ctx, q)
}

// RunningIn lists the tasks of a context that have not ended, the newest ones.
func (s *Service) RunningIn(ctx context.Context, contextID string, limit int) ([]string, error) {
	return s.backend.RunningIn(ctx, contextID, limit)
}

// Approval reads an approval.
func (s *Service) Approval(ctx context.Context, uuid string) (contract.ApprovalView, error) {
	return s.backend.Approval(ctx, uuid)
}

// Subject is what an approval is about, for who is going to decide it. It needs no worker,
// and does not end when the caller goes away.
func (s *Service) Subject(ctx context.Context, uuid string) (Subject, error) {
	ctx, cancel := sending(ctx)
	defer cancel()
	return s.backend.Subject(ctx, uuid)
}

// Waiting is a page of the approvals that wait for a decision.
func (s *Service) Waiting(ctx context.Context, q ListQuery) (Page[WaitingItem], error) {
	return s.backend.Waiting(ctx, q)
}

// Webhooks adds, lists and deletes the webhooks of tasks.
func (s *Service) Webhooks() Pushes { return s.backend }

// Catalogue is what a worker offers. It may be some seconds old.
func (s *Service) Catalogue(ctx context.Context) (contract.Catalogue, error) {
	return s.catalogue.get(ctx)
}

// Resources are those of all tool servers. They may be a minute old.
func (s *Service) Resources(ctx context.Context) (contract.ResourceCatalogue, error) {
	return s.resources.get(ctx)
}

// Prompts are those of all tool servers. They may be a minute old.
func (s *Service) Prompts(ctx context.Context) (contract.PromptCatalogue, error) {
	return s.prompts.get(ctx)
}

// Ping fails when Temporal does not answer.
func (s *Service) Ping(ctx context.Context) error { return s.backend.Ping(ctx) }
