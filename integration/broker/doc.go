// Package broker runs a real Kafka broker (KRaft, one node) as a child process, for tests, the demo and the benchmarks.
// It listens on loopback on ports of its own choice and keeps everything in one folder.
//
// The class path comes from pom.xml in this folder, written once by
//
//	mvn -B -q -f integration/broker/pom.xml dependency:build-classpath -Dmdep.outputFile=$PWD/build/broker/classpath.txt
//
// The kernel kills the broker when the thread that started it dies, so that a test that is killed leaves none behind; for
// that the harness keeps one operating system thread for each broker.
package broker
