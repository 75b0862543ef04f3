package activities

import (
	"context"
	"time"
)

// Allowance is the allowance of a local activity.
type Allowance struct{ *allowance }

func NewAllowance(total time.Duration, attempt int32) Allowance {
	return Allowance{&allowance{total: total, before: attempt - 1, began: time.Now()}}
}

func (a Allowance) Failure(ctx context.Context, err error) error { return a.failure(ctx, err) }
