// Command pods writes what kubectl get pods -o json and kubectl get events -o json print
// for five fates of a pod, built with the Kubernetes API's own types, as test data for
// inspect/platform: go run . DIRECTORY START, where START is the moment (RFC 3339) at
// which the fate begins.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	namespace = "shop"
	victim    = "orders-7f9c5d8b6f-x2mzq"
	address   = "10.42.7.22"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pods DIRECTORY START")
		os.Exit(2)
	}
	at, err := time.Parse(time.RFC3339, os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	w := &writer{dir: os.Args[1]}
	began := at.Add(-26 * time.Hour)
	again := at.Add(3 * time.Second)

	// The kernel kills the container; the kubelet starts it again in the same pod.
	oom := pod(victim, address, began)
	oom.Status.ContainerStatuses[0] = restarted(began, at, again, 137, "OOMKilled", "")
	w.pods("oom", oom, peer(began))
	w.events("oom", event(victim, at.Add(time.Second), "BackOff", "Back-off restarting failed container app in pod "+victim, "spec.containers{app}"))

	// A rollout: the process did not close on SIGTERM, and its pod is still there, terminating.
	next := pod("orders-5b6d7c9f44-p8vkt", "10.42.7.31", again)
	old := pod(victim, address, began)
	until := metav1.NewTime(at.Add(30 * time.Second))
	old.DeletionTimestamp = &until
	old.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "app", State: corev1.ContainerState{Terminated: ended(began, at.Add(time.Second), 143, "Error", "")}}
	w.pods("rollout", next, old, peer(began))
	w.events("rollout",
		event(victim, at, "Killing", "Stopping container app", "spec.containers{app}"),
		deployment(at, "Scaled down replica set orders-7f9c5d8b6f from 2 to 1"))

	// Node-pressure eviction: the pod stays in the list as Failed.
	gone := pod(victim, address, began)
	gone.Status.Phase, gone.Status.Reason = corev1.PodFailed, "Evicted"
	gone.Status.Message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi."
	gone.Status.Conditions = append(gone.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		Reason: "TerminationByKubelet", Message: gone.Status.Message, LastTransitionTime: metav1.NewTime(at)})
	gone.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: "app", State: corev1.ContainerState{Terminated: ended(began, at.Add(2*time.Second), 137, "Error", "")}}
	w.pods("evicted", gone, peer(began))
	w.events("evicted", event(victim, at, "Evicted", gone.Status.Message, ""), event(victim, at, "Killing", "Stopping container app", "spec.containers{app}"))

	// The liveness probe fails, the kubelet restarts the container.
	probe := pod(victim, address, began)
	probe.Status.ContainerStatuses[0] = restarted(began, at.Add(time.Second), again, 143, "Error", "")
	w.pods("liveness", probe, peer(began))
	w.events("liveness",
		event(victim, at.Add(-20*time.Second), "Unhealthy", "Liveness probe failed: Get \"http://10.42.7.22:8080/healthz\": context deadline exceeded", "spec.containers{app}"),
		event(victim, at, "Killing", "Container app failed liveness probe, will be restarted", "spec.containers{app}"))

	// The pod lives on; a later event of another pod shows that the list is newer.
	w.pods("lived-on", pod(victim, address, began), peer(began))
	w.events("lived-on", event("billing-6c9f7d5d4-abcde", at.Add(10*time.Minute), "Pulled", "Container image already present on machine", "spec.containers{app}"))
	if w.err != nil {
		fmt.Fprintln(os.Stderr, w.err)
		os.Exit(1)
	}
}

// writer keeps the first error.
type writer struct {
	dir string
	err error
}

func (w *writer) write(name string, v any) {
	text, err := json.MarshalIndent(v, "", "    ")
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, name), append(text, '\n'), 0o644)
	}
	w.err = errors.Join(w.err, err)
}

func (w *writer) pods(name string, pods ...corev1.Pod) {
	w.write(name+"-pods.json", struct {
		metav1.TypeMeta `json:",inline"`
		Items           []corev1.Pod    `json:"items"`
		Metadata        metav1.ListMeta `json:"metadata"`
	}{metav1.TypeMeta{Kind: "List", APIVersion: "v1"}, pods, metav1.ListMeta{}})
}

func (w *writer) events(name string, events ...corev1.Event) {
	w.write(name+"-events.json", struct {
		metav1.TypeMeta `json:",inline"`
		Items           []corev1.Event  `json:"items"`
		Metadata        metav1.ListMeta `json:"metadata"`
	}{metav1.TypeMeta{Kind: "List", APIVersion: "v1"}, events, metav1.ListMeta{}})
}

// pod is a running pod of one container since a moment.
func pod(name, ip string, since time.Time) corev1.Pod {
	start := metav1.NewTime(since)
	ready := true
	return corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("0b1f6c8e-" + name[len(name)-4:]), CreationTimestamp: start,
			Labels: map[string]string{"app": "orders"}},
		Spec: corev1.PodSpec{NodeName: "node-3", Containers: []corev1.Container{{Name: "app", Image: "registry.example/orders:1.8.2",
			Env: []corev1.EnvVar{{Name: "DB_PASSWORD", Value: "planted-secret"}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, HostIP: "192.0.2.13", StartTime: &start,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: start}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Ready: ready, Started: &ready,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: start}}}}},
	}
}

func peer(since time.Time) corev1.Pod { return pod("orders-7f9c5d8b6f-k4twn", "10.42.5.8", since) }

func restarted(began, end, again time.Time, code int32, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "app", Ready: true, RestartCount: 1,
		State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(again)}},
		LastTerminationState: corev1.ContainerState{Terminated: ended(began, end, code, reason, message)}}
}

func ended(began, end time.Time, code int32, reason, message string) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message, StartedAt: metav1.NewTime(began), FinishedAt: metav1.NewTime(end)}
}

func event(about string, at time.Time, reason, message, path string) corev1.Event {
	return corev1.Event{TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: "v1"},
		ObjectMeta:     metav1.ObjectMeta{Name: about + ".17f3", Namespace: namespace, CreationTimestamp: metav1.NewTime(at)},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: namespace, Name: about, FieldPath: path},
		Reason:         reason, Message: message, Type: corev1.EventTypeNormal, Count: 1,
		FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at), Source: corev1.EventSource{Component: "kubelet", Host: "node-3"}}
}

func deployment(at time.Time, message string) corev1.Event {
	e := event("orders", at, "ScalingReplicaSet", message, "")
	e.InvolvedObject = corev1.ObjectReference{Kind: "Deployment", APIVersion: "apps/v1", Namespace: namespace, Name: "orders"}
	return e
}
