package wire

// statuses are numbers and not net/http's constants, so that the small binary
// which agents call does not carry net/http.
var statuses = map[Code]int{
	CodeBadJSON:       400,
	CodeBadEventName:  400,
	CodeBadData:       400,
	CodeBadField:      400,
	CodeReserved:      400,
	CodeBadRequest:    400,
	CodeTooDeep:       400,
	CodeForbidden:     403,
	CodeNotFound:      404,
	CodeAnswered:      409,
	CodeBadMethod:     405,
	CodeIDConflict:    409,
	CodeAnswerGone:    410,
	CodeTooLarge:      413,
	CodeRejected:      422,
	CodeTooMany:       429,
	CodeQueueFull:     429,
	CodeInternal:      500,
	CodeDraining:      503,
	CodeDiskQueueFull: 503,
	CodeStorage:       507,
}

// HTTPStatus is the status of a refusal with this code; 500 for a code that
// has none.
func HTTPStatus(code Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return 500
}
