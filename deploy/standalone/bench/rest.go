package main

import (
	"context"
	"time"
)

// restReaders is how many clients read conversations at rest at a time.
const restReaders = 10

// reader reads one conversation again and again.
type reader struct{ *chat }

func (r reader) turn(ctx context.Context) error {
	return r.call(ctx, "GET", "/conversations/"+r.id, nil, nil)
}

// rest measures the reading of conversations to which nothing happens.
func rest(ctx context.Context, s *stack, n size, t *table) error {
	var readers []turner
	for range restReaders {
		c, err := s.talk(ctx, shortTurns)
		if err != nil {
			return err
		}
		readers = append(readers, reader{c})
	}
	times, err := each(n.reads, func() error { return readers[0].turn(ctx) })
	if err != nil {
		return err
	}
	median := quantile(times, .5)
	t.value("GET /conversations/:id at rest, 1 client, median", ms(median), "≤ 1 ms", median <= time.Millisecond)
	all, err := together(ctx, readers, n.busy)
	if err != nil {
		return err
	}
	t.value("GET /conversations/:id at rest, 10 clients", perSecond(all), "≥ 3000 /s", all.perSecond() >= 3000)
	t.value("GET /conversations/:id at rest, CPU with its client", ms(all.cpuPerTurn()), "", true)
	return nil
}
