/**
 * The views of all members, fed by the informers. A pod that was just placed counts at once, before the informer shows
 * it; a terminating pod counts until it is removed.
 */
import { Node, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Informers } from "@flotilla/controller-runtime";
import { ClusterView } from "./cluster-view.ts";
import { podView } from "./pod-view.ts";

type ReadonlyPod = DeepReadonly<Pod>;

export interface ClusterViews {
  /** Do not retain the result: for a member without objects, or a deleted one, it is empty and is not updated. */
  of(cluster: string): ClusterView;
  /** Counts the pod as placed; its own event confirms it later. */
  assume(cluster: string, pod: ReadonlyPod, node: string): void;
  /** Undoes `assume` after a failed placement. */
  release(cluster: string, pod: ReadonlyPod): void;
}

/** Call it once per set of informers. */
export function createClusterViews(informers: Informers): ClusterViews {
  const views = new Map<string, ClusterView>();
  const viewOf = (cluster: string): ClusterView => {
    let view = views.get(cluster);
    if (!view) views.set(cluster, (view = new ClusterView()));
    return view;
  };
  const dropIfEmpty = (cluster: string): void => {
    if (views.get(cluster)?.isEmpty) views.delete(cluster);
  };

  informers.of(Node).subscribe(({ cluster, object, deleted }) => {
    if (!deleted) return viewOf(cluster).setNode(object);
    viewOf(cluster).removeNode(object.metadata.name);
    dropIfEmpty(cluster);
  });
  informers.of(Pod).subscribe(({ cluster, object, deleted, old }) => {
    const view = viewOf(cluster);
    const uid = object.metadata.uid ?? "";
    if (deleted || isOver(object)) {
      view.lift(uid);
      if (old?.status?.nominatedNodeName) view.nominate(podView(object), undefined);
      if (deleted) dropIfEmpty(cluster);
      return;
    }
    const { nodeName } = object.spec;
    if (nodeName) {
      if (old?.status?.nominatedNodeName) view.nominate(podView(object), undefined);
      // Most changes of a pod are status changes, which placement ignores.
      const before = view.placeOf(uid);
      if (before?.node !== nodeName || weighsOtherwise(before.pod.pod, object)) view.put(podView(object), nodeName);
      else before.pod.pod = object;
      // An event from before the placement must not undo the assumption.
    } else if (object.status?.nominatedNodeName || old?.status?.nominatedNodeName)
      view.nominate(podView(object), object.status?.nominatedNodeName);
  });
  return {
    of: (cluster) => views.get(cluster) ?? new ClusterView(),
    assume: (cluster, pod, node) => viewOf(cluster).put(podView(pod), node),
    release: (cluster, pod) => viewOf(cluster).lift(pod.metadata.uid ?? ""),
  };
}

export const isOver = ({ status }: ReadonlyPod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";

function weighsOtherwise(before: ReadonlyPod, now: ReadonlyPod): boolean {
  const { metadata: was, spec: from } = before;
  const { metadata: is, spec: to } = now;
  return (
    was.deletionTimestamp !== is.deletionTimestamp ||
    !sameLabels(was.labels, is.labels) ||
    was.ownerReferences?.length !== is.ownerReferences?.length ||
    (from !== to &&
      from.containers.some(
        ({ resources }, index) => !sameRequests(resources?.requests, to.containers[index]?.resources?.requests),
      ))
  );
}

type Flat = Readonly<Record<string, string | number>> | undefined;

function sameLabels(a: Flat, b: Flat): boolean {
  return a === b || sameRequests(a, b);
}

function sameRequests(a: Flat = {}, b: Flat = {}): boolean {
  if (a === b) return true;
  let left = 0;
  for (const key in a) {
    if (a[key] !== b[key]) return false;
    left++;
  }
  for (const _ in b) left--;
  return left === 0;
}
