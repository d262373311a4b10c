package main

// inTheWay says for measures that may miss a target what a profile of the
// daemon shows in the way. It is printed only beside what was not reached.
var inTheWay = map[string]string{}
