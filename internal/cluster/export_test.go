package cluster

// Dialer is how connections with TLS are made.
var Dialer = dialer
