package wire

// Code classifies a refusal for programs; package api maps it to a status.
type Code string

const (
	CodeBadJSON       Code = "bad_json"
	CodeBadEventName  Code = "bad_event_name"
	CodeBadData       Code = "bad_data"  // data is not an object
	CodeBadField      Code = "bad_field" // a field of the envelope has a wrong type or value
	CodeReserved      Code = "reserved_event"
	CodeTooLarge      Code = "too_large"
	CodeTooDeep       Code = "too_deep"
	CodeTooMany       Code = "too_many_events"
	CodeQueueFull     Code = "queue_full"
	CodeDiskQueueFull Code = "disk_queue_full"
	CodeStorage       Code = "storage" // the event cannot be kept
	CodeDraining      Code = "draining"
	CodeNotFound      Code = "not_found"
	CodeIDConflict    Code = "id_conflict" // the id is another event's
	CodeAnswerGone    Code = "answer_gone" // of an event that was sent again
	CodeRejected      Code = "rejected"    // configuration
	CodeForbidden     Code = "forbidden"
	CodeAnswered      Code = "answered" // an ask that has ended
	CodeBadRequest    Code = "bad_request"
	CodeBadMethod     Code = "bad_method"
	CodeInternal      Code = "internal"
)

// Error is a refusal as the sender sees it: the mistake, and the remedy.
type Error struct {
	Code       Code   `json:"code"`
	Message    string `json:"message"`
	Hint       string `json:"hint,omitempty"`
	Field      string `json:"field,omitempty"` // the field of the body, or the parameter, with the mistake; "" = another mistake
	RetryAfter int    `json:"-"`               // seconds; 0 = none
}

func (e *Error) Error() string { return e.Message }
