package api

import "github.com/hookd/hookd/internal/events"

// statuses are numbers and not net/http's constants, so that the small binary
// which agents call does not carry net/http.
var statuses = map[events.Code]int{
	events.CodeBadJSON:       400,
	events.CodeBadEventName:  400,
	events.CodeBadData:       400,
	events.CodeBadField:      400,
	events.CodeReserved:      400,
	events.CodeBadRequest:    400,
	events.CodeTooDeep:       400,
	events.CodeForbidden:     403,
	events.CodeNotFound:      404,
	events.CodeAnswered:      409,
	events.CodeBadMethod:     405,
	events.CodeIDConflict:    409,
	events.CodeAnswerGone:    410,
	events.CodeTooLarge:      413,
	events.CodeRejected:      422,
	events.CodeTooMany:       429,
	events.CodeQueueFull:     429,
	events.CodeInternal:      500,
	events.CodeDraining:      503,
	events.CodeDiskQueueFull: 503,
	events.CodeStorage:       507,
}

// HTTPStatus is the status of a refusal with this code; 500 for a code that
// has none.
func HTTPStatus(code events.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return 500
}
