// Package platform reads what the platform that runs the consumers says of their
// processes: `kubectl get pods -o json`, `kubectl get events -o json`, `docker inspect`
// and `docker events --format '{{json .}}'`. It turns them into lives of containers and
// matches members of a group with them.
//
// It refuses to ask a platform anything, to keep what may hold secrets (environment,
// arguments, annotations), and to match by anything but an address, a host name or a
// pod's name in a client or instance id.
package platform
