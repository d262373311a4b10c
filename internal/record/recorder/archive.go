package recorder

import (
	"context"

	"github.com/hookd/hookd/internal/record/store"
	"github.com/hookd/hookd/internal/record/stream"
)

// Archive is the history as the stream reads it. It fits stream.Archive. Both fields are
// required.
type Archive struct {
	Store      *store.Store
	WaitStored func() // the method of the Recorder
}

// How many records, and how many bytes of them, are read at once. A larger record is
// read alone.
const (
	archivePage  = 256
	archiveBytes = 1 << 20
)

// Since fits stream.Archive.
func (a Archive) Since(ctx context.Context, after, upto uint64) ([]stream.Archived, uint64, error) {
	a.WaitStored()
	if err := a.Store.FlushEvents(ctx); err != nil {
		return nil, 0, err
	}
	feed, err := a.Store.Since(ctx, after, upto, archivePage, archiveBytes)
	return archived(feed), feed.Through, err
}

// archived merges the records and the gaps between them into one order.
func archived(feed store.Feed) (list []stream.Archived) {
	missing := feed.Missing
	for _, r := range feed.Records {
		for len(missing) > 0 && missing[0].First < r.Seq {
			list = append(list, stream.Archived{Seq: missing[0].First, Missing: missing[0].Last})
			missing = missing[1:]
		}
		list = append(list, archivedRecord(r))
	}
	for _, m := range missing {
		list = append(list, stream.Archived{Seq: m.First, Missing: m.Last})
	}
	return list
}

func archivedRecord(r store.Record) stream.Archived {
	switch {
	case r.Decision != nil:
		return stream.Archived{Seq: r.Seq, Name: r.Decision.Event, Encode: stream.DecisionRecord(r.Decision)}
	case r.Run != nil:
		return stream.Archived{Seq: r.Seq, Name: r.Run.Event, Encode: stream.RunRecord(r.Run)}
	case r.Event.Whole && len(r.Event.Data) > archiveBytes:
		return stream.Archived{
			Seq:    r.Seq,
			Name:   r.Event.Envelope.Event,
			Encode: stream.EventHead(r.Event.Event),
			Data:   stream.EventData(r.Event.Data),
		}
	case r.Event.Whole:
		return stream.Archived{Seq: r.Seq, Name: r.Event.Envelope.Event, Encode: stream.EventRecord(r.Event.Event)}
	}
	return stream.Archived{
		Seq:    r.Seq,
		Name:   r.Event.Envelope.Event,
		Encode: stream.BriefEventRecord(r.Event.Event, r.Event.Size, r.Event.Preview),
	}
}
