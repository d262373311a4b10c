package wire

// Card is an ask as people are shown it. The daemon makes it; terminal, page, desktop,
// phone and chat draw it, and add nothing to the question. Each text in it is visible:
// hidden characters, runs of blanks and letters of another alphabet are spelled out.
type Card struct {
	Whole  bool       `json:"whole"`            // What has all of the input
	Digest string     `json:"digest,omitempty"` // of the ask, which an allow carries; "" = neither What nor a small form is whole
	Lines  int        `json:"lines"`            // of the input
	Bytes  int        `json:"bytes"`            // of the input
	Hidden bool       `json:"hidden,omitempty"` // it has characters that are spelled out: an allow counts once only
	What   []CardRow  `json:"what"`             // the input, line by line
	Says   []CardSaid `json:"says"`             // who asks, why, where, and what each answer does
	Spans  []CardSpan `json:"spans,omitempty"`  // what made guards ask, where they name it
	Small  CardSmalls `json:"small"`
}

// CardRow is a line of the input, or stands for several.
type CardRow struct {
	Line  int        `json:"line,omitempty"`  // number of the line, from 1; 0 = it is none, or the row stands for several
	Is    string     `json:"is,omitempty"`    // "" a line, or one of the Row constants
	Lines int        `json:"lines,omitempty"` // that the row stands for, with left and empty
	Bytes int        `json:"bytes,omitempty"` // in those lines
	Parts []CardPart `json:"parts"`
}

// Kinds of a row of a card.
const (
	RowName    = "name"    // the name of an argument, whose lines follow
	RowValue   = "value"   // an argument with its value
	RowAdded   = "added"   // a line that an edit adds
	RowRemoved = "removed" // a line that an edit takes away
	RowEmpty   = "empty"   // several empty lines
	RowLeft    = "left"    // lines that this card does not have
)

// CardPart is a part of a row. The texts of a row's parts, one after another, are the row
// in plain text.
type CardPart struct {
	Text string `json:"text"`
	Is   string `json:"is,omitempty"`   // "" text, or one of the Part constants
	Mark bool   `json:"mark,omitempty"` // it made a guard ask
}

// Kinds of a part of a row.
const (
	PartHidden = "hidden" // characters that people cannot see, by their numbers
	PartOdd    = "odd"    // letters of another alphabet than the rest of the word, by their numbers
	PartBlank  = "blank"  // a run of blanks, counted
	PartLeft   = "left"   // characters that this card does not have, counted
)

// CardSaid is a sentence of a card, such as asks or where.
type CardSaid struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// CardSpan marks the text that made a hook ask: bytes of the text of an argument.
type CardSpan struct {
	Hook     string `json:"hook"`
	Argument string `json:"argument"`
	From     int    `json:"from"`
	To       int    `json:"to"`
}

// CardSmalls are the card in plain text where there is little room.
type CardSmalls struct {
	Phone   CardSmall `json:"phone"`   // 6 lines of 40 columns
	Desktop CardSmall `json:"desktop"` // 8 lines of 56 columns
	Chat    CardSmall `json:"chat"`    // 30 lines of 80 columns
}

// CardSmall is the input in plain text, whole or with a count of the omitted lines.
type CardSmall struct {
	Lines []string `json:"lines"`
	Allow bool     `json:"allow"` // Lines have all of the input: it may be allowed here, once
}
