// Package timerslack has the threads of this program sleep longer than they ask for, by up
// to 0.3 ms, and processes that it starts no longer than others.
//
// Go's scheduler has a thread that sleeps for 20 µs, looks whether a goroutine is in a system
// call for too long, and sleeps again; and a thread that looks for work sleeps for 3 µs before
// it takes a goroutine from another one. Linux lets such a sleep be 50 µs longer, its "timer
// slack". With 300 µs hookd has up to half fewer context switches for a run, see record 0134.
// Each of its timers may be as much later.
//
// Elsewhere than on Linux nothing here does anything.
package timerslack
