// Package daemontest plays the JVM against penstockd in tests: Client speaks the session socket and maps what it is granted,
// Writer drives one sink stream over gRPC. Every wait has a deadline, and a fault of the test's own side fails the test.
package daemontest
