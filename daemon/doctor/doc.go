// Package doctor looks for what is wrong with a node before a job finds out: the kernel, the sockets, the limits, the configuration,
// and the way to the brokers. Each check does the thing itself on a small scale (makes a sealed memfd, connects, logs in) instead of
// comparing versions, and changes nothing that stays.
//
// Every check gives findings, also where all is well; a finding that is not well says what to do. No finding holds a secret.
package doctor
