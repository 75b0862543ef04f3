package deletion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/workflows/contract/deletion"
)

// Values has the stored values.
type Values interface {
	// Collect puts values aside that nothing uses and that were stored longer than grace ago, and
	// removes those that were put aside so long ago. used returns the sums in everything outside
	// the store that may refer to values. With dry it only counts.
	Collect(ctx context.Context, grace time.Duration, dry bool, used func(context.Context) (map[string]bool, error)) (deletion.Collected, error)
}

// Collect collects the values that no history and no file refers to.
func (d *Deletions) Collect(ctx context.Context, in deletion.UpkeepInput) (deletion.Collected, error) {
	defer beat(ctx)()
	s := serverOf(ctx)
	return d.Values.Collect(ctx, deletion.Grace, in.DryRun, func(ctx context.Context) (map[string]bool, error) {
		sums := sums{}
		if err := d.inFiles(sums); err != nil {
			return nil, err
		}
		return sums, s.inHistories(ctx, sums)
	})
}

// sums are all texts that look like the sum of a value.
type sums map[string]bool

var sumPattern = regexp.MustCompile(`[0-9a-f]{64}`)

func (s sums) add(data []byte) {
	for _, sum := range sumPattern.FindAll(data, -1) {
		s[string(sum)] = true
	}
}

func (d *Deletions) inFiles(into sums) error {
	files, err := os.ReadDir(d.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list the files of conversations: %w", err)
	}
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".json" || !file.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(d.Dir, file.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the file of a conversation: %w", err)
		}
		into.add(data)
	}
	return nil
}

// inHistories adds the sums in the histories of all namespaces: they may share the store.
func (s server) inHistories(ctx context.Context, into sums) error {
	req := &workflowservice.ListNamespacesRequest{PageSize: 100}
	for {
		page, err := s.client.WorkflowService().ListNamespaces(ctx, req)
		if err != nil {
			return fmt.Errorf("list the namespaces: %w", err)
		}
		for _, n := range page.GetNamespaces() {
			if name := n.GetNamespaceInfo().GetName(); name != "temporal-system" {
				if err := s.inNamespace(ctx, name, into); err != nil {
					return fmt.Errorf("read the histories of namespace %s: %w", name, err)
				}
			}
		}
		if req.NextPageToken = page.GetNextPageToken(); len(req.NextPageToken) == 0 {
			return nil
		}
	}
}

func (s server) inNamespace(ctx context.Context, name string, into sums) error {
	s.namespace = name
	for e, err := range s.list(ctx, "") {
		if err != nil {
			return err
		}
		if err := addMessage(into, e); err != nil {
			return err
		}
		req := &workflowservice.GetWorkflowExecutionHistoryRequest{
			Namespace: name, Execution: e.GetExecution(), HistoryEventFilterType: enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT,
		}
		for {
			page, err := s.client.WorkflowService().GetWorkflowExecutionHistory(ctx, req)
			if isNotFound(err) {
				break // it was deleted meanwhile
			}
			if err != nil {
				return err
			}
			if err := addMessage(into, page.GetHistory()); err != nil {
				return err
			}
			if req.NextPageToken = page.GetNextPageToken(); len(req.NextPageToken) == 0 {
				break
			}
		}
	}
	return nil
}

// addMessage adds the sums in a message with all its payloads. Encrypted ones cannot be read, so
// nothing may be collected.
func addMessage(into sums, m proto.Message) error {
	data, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	if encrypted.Match(data) {
		return errors.New("a history is encrypted: what it refers to cannot be read, so no value may be removed")
	}
	into.add(data)
	return nil
}

var encrypted = regexp.MustCompile(`binary/(encrypted|zlib|snappy|gzip)`)
