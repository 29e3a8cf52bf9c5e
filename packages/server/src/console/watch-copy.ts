/** The copy of a workload on one member, and the pods that its selector has, watched there. */
import { messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Log } from "@flotilla/base";
import type { AnyKind, Client } from "@flotilla/client";
import { Pod } from "@flotilla/kubernetes";
import type { ObjectRef } from "@flotilla/web";
import { selectorOf } from "./json-access.ts";
import type { WatchedCopy } from "./object-view.ts";
import { watchObjects } from "./watched-objects.ts";
import type { WatchedObjects } from "./watched-objects.ts";

/** Of one member: a page lists them by name, and counts the rest. */
const MAX_PODS = 200;
/** A message of another server may have any length. */
const MAX_MESSAGE = 200;

/** A name comes from an address that anyone may have written. */
export const nameSelector = (name: string): string => `metadata.name=${name.replaceAll(/[\\,=]/g, "\\$&")}`;

export const shortMessage = (error: unknown): string => messageOf(error).slice(0, MAX_MESSAGE);

export interface MemberCopy {
  read(): WatchedCopy;
  close(): void;
}

interface CopyOptions {
  client: Client;
  clock: Clock;
  log: Log;
  ref: ObjectRef;
  kind: AnyKind;
  changed(): void;
}

export function watchCopy(member: string, options: CopyOptions): MemberCopy {
  const { client, clock, log, ref, kind, changed } = options;
  const namespace = ref.namespace || undefined;
  const shared = { client, clock, log, member };
  let selector = "";
  let pods: WatchedObjects<Pod> | undefined;
  const object = watchObjects({
    ...shared,
    kind,
    select: { namespace, fieldSelector: nameSelector(ref.name) },
    maxObjects: 1,
    onChange() {
      const next = selectorOf(object.list()[0]);
      if (next !== selector) {
        selector = next;
        pods?.close();
        pods = undefined;
        if (selector !== "" && namespace !== undefined)
          pods = watchObjects({
            ...shared,
            kind: Pod,
            select: { namespace, labelSelector: selector },
            maxObjects: MAX_PODS,
            keep: withoutManagers,
            onChange: changed,
          });
      }
      changed();
    },
  });
  return {
    read() {
      const failure = object.failure() ?? pods?.failure();
      return {
        object: object.list()[0],
        isLive: object.isLive() && (pods?.isLive() ?? true),
        problem: failure === undefined ? "" : shortMessage(failure),
        pods: pods?.list() ?? [],
        morePods: pods?.omitted() ?? 0,
      };
    },
    close() {
      object.close();
      pods?.close();
    },
  };
}

/** They are long, and not shown. */
function withoutManagers(pod: DeepReadonly<Pod>): DeepReadonly<Pod> {
  const { managedFields: _managed, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}
