/**
 * One workload, live: its template and binding on the hub, and on each member the copy and its pods. The copies are
 * watched on the members while a page shows them, because a binding's status arrives up to 3 s later.
 */
import { findCondition, HUB, isConditionTrue } from "@flotilla/apimachinery";
import { FlotillaError, isObject, messageOf, defined } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject, Timer } from "@flotilla/base";
import { createKindResolver, createWatchDecoder, queryText, readText, resourcePath } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import {
  bindingName,
  ClusterResourceBinding,
  executionNamespace,
  ResourceBinding,
  Work,
  CLUSTER_POLICY_NAME,
  CLUSTER_BINDING_ID,
  POLICY_NAME,
  POLICY_NAMESPACE,
  BINDING_ID,
} from "@flotilla/karmada";
import { Pod, podStatus } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import type { CopyRow, Health, ObjectRef, ObjectView, PodRow } from "@flotilla/web";
import { numberOf, objectAt, objectsAt, pause, selectorOf, textAt } from "./json-access.ts";
import { memberPath } from "./member-copies.ts";

export interface ObjectTopicOptions {
  client: Client;
  clock: Clock;
  ref: ObjectRef;
  isReady(member: string): boolean;
  send(view: ObjectView): void;
  fail(reason: string): void;
  signal: AbortSignal;
}

const GATHER_MS = 30;
const RETRY_MS = 2_000;
const WORKS_MS = 1_000;
/** A page that shows more is unreadable; equal copies are folded there. */
const MAX_COPIES = 1_000;
const MAX_LIVE = 50;
const MAX_PODS = 200;
const MAX_PODS_SENT = 60;

interface Copy {
  object: JsonObject | undefined;
  isLive: boolean;
  pods: Map<string, JsonObject>;
  stop: AbortController;
}

export async function openObjectTopic(options: ObjectTopicOptions): Promise<void> {
  const { client, clock, ref, isReady, send, fail, signal } = options;
  const namespaced = ref.namespace !== "";
  const kinds = createKindResolver({ client, cluster: HUB });
  let kind: AnyKind;
  try {
    kind = await kinds.resolve(ref);
  } catch (error) {
    fail(messageOf(error));
    return;
  }
  const bindingKind = (namespaced ? ResourceBinding : ClusterResourceBinding) as typeof ResourceBinding;
  const binding = { name: bindingName(ref.kind, ref.name), namespace: ref.namespace || undefined };
  let template: JsonObject | undefined;
  let bound: DeepReadonly<ResourceBinding> | undefined;
  const works = new Map<string, DeepReadonly<Work>>();
  const copies = new Map<string, Copy>();
  let timer: Timer | undefined;
  let rereading: Timer | undefined;
  let isFirst = true;

  const changed = (): void => {
    timer ??= clock.after(isFirst ? 0 : GATHER_MS, () => {
      timer = undefined;
      isFirst = false;
      if (!signal.aborted) send(viewOf());
    });
  };
  signal.addEventListener("abort", () => {
    timer?.cancel();
    rereading?.cancel();
    for (const { stop } of copies.values()) stop.abort();
  });

  void follow(
    pathOf(kind, ref.namespace || undefined),
    `metadata.name=${ref.name}`,
    (object) => {
      template = object;
      changed();
    },
    "",
  );
  void follow(
    pathOf(bindingKind, binding.namespace),
    `metadata.name=${binding.name}`,
    (object) => {
      bound = object as DeepReadonly<ResourceBinding> | undefined;
      updateCopies();
      changed();
    },
    "",
  );

  /** Follows one object, or several for which `each` is called with `undefined` when they are gone. */
  async function follow(
    path: string,
    fieldSelector: string,
    set: (object: JsonObject | undefined, key: string) => void,
    member: string,
    selection: Record<string, string> = {},
    stop: AbortSignal = signal,
  ): Promise<void> {
    while (!stop.aborted) {
      try {
        const query = {
          watch: "true",
          sendInitialEvents: "true",
          resourceVersionMatch: "NotOlderThan",
          allowWatchBookmarks: "true",
          ...defined({ fieldSelector: fieldSelector === "" ? undefined : fieldSelector }),
          ...selection,
        };
        const { status, body } = await client.raw(
          {
            method: "GET",
            path: `${member === "" ? path : memberPath(member, path)}${queryText(query)}`,
            cluster: HUB,
            headers: { accept: "application/json" },
          },
          stop,
        );
        if (status !== 200) throw new FlotillaError("Member", await readText(body));
        await consume(body, set, stop);
      } catch {
        // The connection broke, or the member is away: what was seen last stays, marked as not live.
        if (stop.aborted) return;
        const copy = copies.get(member);
        if (copy) copy.isLive = false;
        changed();
      }
      await pause(clock, RETRY_MS, stop);
    }
  }

  async function consume(
    body: AsyncIterable<Uint8Array>,
    set: (object: JsonObject | undefined, key: string) => void,
    stop: AbortSignal,
  ): Promise<void> {
    const decoder = createWatchDecoder();
    /** A new list replaces what an earlier watch saw. */
    let initial: Set<string> | undefined = new Set();
    try {
      for await (const chunk of body) {
        if (stop.aborted) return;
        const { events, failure } = decoder.push(chunk);
        for (const { type, object } of events) {
          if (type === "BOOKMARK") {
            // An object that does not exist has no event.
            if (initial?.size === 0) set(undefined, "");
            initial = undefined;
            continue;
          }
          const key = textAt(objectAt(object, "metadata"), "name");
          initial?.add(key);
          set(type === "DELETED" ? undefined : object, key);
        }
        if (failure) throw failure;
      }
    } finally {
      decoder.close();
    }
  }

  function membersOf(): string[] {
    const { spec, status } = bound ?? {};
    const names = new Set([
      ...(spec?.clusters ?? []).map(({ name }) => name),
      ...(spec?.requiredBy ?? []).flatMap(({ clusters = [] }) => clusters.map(({ name }) => name)),
      ...(status?.aggregatedStatus ?? []).map(({ clusterName }) => clusterName),
    ]);
    return [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  }

  function updateCopies(): void {
    const wanted = new Set(membersOf().slice(0, MAX_LIVE));
    for (const [member, { stop }] of copies)
      if (!wanted.has(member)) {
        stop.abort();
        copies.delete(member);
        works.delete(member);
      }
    for (const member of wanted) {
      if (copies.has(member)) {
        rereadWorks();
        continue;
      }
      const stop = new AbortController();
      const copy: Copy = { object: undefined, isLive: false, pods: new Map(), stop };
      copies.set(member, copy);
      const ending = AbortSignal.any([signal, stop.signal]);
      let selector = "";
      const podsStop: { current: AbortController | undefined } = { current: undefined };
      void follow(
        pathOf(kind, ref.namespace || undefined),
        `metadata.name=${ref.name}`,
        (object) => {
          copy.object = object;
          copy.isLive = true;
          const next = selectorOf(object);
          if (next !== selector) {
            selector = next;
            podsStop.current?.abort();
            copy.pods.clear();
            podsStop.current = new AbortController();
            if (selector !== "" && namespaced)
              void follow(
                pathOf(Pod, ref.namespace),
                "",
                (pod, key) => {
                  if (key === "") return;
                  if (!pod) copy.pods.delete(key);
                  else if (copy.pods.size < MAX_PODS || copy.pods.has(key)) copy.pods.set(key, pod);
                  changed();
                },
                member,
                { labelSelector: selector },
                AbortSignal.any([ending, podsStop.current.signal]),
              );
          }
          changed();
        },
        member,
        {},
        ending,
      );
      void readWork(member);
    }
  }

  function rereadWorks(): void {
    rereading ??= clock.after(WORKS_MS, () => {
      rereading = undefined;
      for (const member of copies.keys()) void readWork(member);
    });
  }

  /** Its conditions report delivery and drift; they change rarely, so they are read with each change of the binding. */
  async function readWork(member: string): Promise<void> {
    try {
      const { items } = await client.list(Work, {
        cluster: HUB,
        namespace: executionNamespace(member),
        labelSelector: workSelector(bound),
        signal,
      });
      const [work] = items;
      if (work) works.set(member, work);
      changed();
    } catch {
      // Without the right to read Works the delivery is not shown; the binding has the same in short.
    }
  }

  function viewOf(): ObjectView {
    const all = membersOf();
    const items = new Map((bound?.status?.aggregatedStatus ?? []).map((item) => [item.clusterName, item]));
    const targets = new Map((bound?.spec.clusters ?? []).map(({ name, replicas }) => [name, replicas]));
    const isRevised = revisionOf(template);
    return {
      ref,
      template: template && slimTemplate(template),
      policy: policyOf(bound),
      binding: bound ? bound.metadata.name : "",
      conditions: (bound?.status?.conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
        type,
        status,
        reason,
        message,
        at: lastTransitionTime,
      })),
      moreCopies: Math.max(0, all.length - MAX_COPIES),
      copies: all.slice(0, MAX_COPIES).map((member): CopyRow => {
        const copy = copies.get(member);
        const item = items.get(member);
        const work = works.get(member);
        const status = copy?.object ? objectAt(copy.object, "status") : isObject(item?.status) ? item.status : {};
        const spec = copy?.object ? objectAt(copy.object, "spec") : {};
        const desired =
          numberOf(spec["replicas"]) ?? targets.get(member) ?? numberOf(status["desiredNumberScheduled"]) ?? -1;
        const ready = numberOf(status["readyReplicas"]) ?? numberOf(status["numberReady"]) ?? (desired >= 0 ? 0 : -1);
        const pods = [...(copy?.pods.values() ?? [])].map((pod) => podRow(pod, isRevised)).sort(byName);
        const applied = findCondition(work?.status?.conditions, "Applied");
        const drift = findCondition(work?.status?.conditions, "Drifted");
        const healthy = findCondition(work?.status?.conditions, "Healthy");
        const message =
          applied?.status === "False"
            ? applied.message || applied.reason
            : healthy?.status === "False"
              ? healthy.message || healthy.reason
              : (item?.appliedMessage ?? "");
        const isFailing = pods.some(({ state }) => FAILING.test(state));
        const health: Health = !isReady(member)
          ? "stale"
          : applied?.status === "False" || item?.applied === false || isFailing
            ? "failed"
            : desired >= 0 && ready < desired
              ? "progressing"
              : copy?.object || item
                ? "healthy"
                : "progressing";
        return {
          member,
          work: work?.metadata.name ?? "",
          desired,
          ready,
          updated:
            numberOf(status["updatedReplicas"]) ??
            numberOf(status["updatedNumberScheduled"]) ??
            (desired >= 0 ? 0 : -1),
          health,
          applied: applied ? applied.status === "True" : item?.applied,
          message: message === "" && isFailing ? (pods.find(({ state }) => FAILING.test(state))?.state ?? "") : message,
          drift: drift?.status === "True" ? drift.message || drift.reason : "",
          live: copy?.isLive ?? false,
          partition: partitionOf(spec),
          images: imagesOf(spec),
          pods: pods.slice(0, MAX_PODS_SENT),
          morePods: Math.max(0, pods.length - MAX_PODS_SENT),
        };
      }),
    };
  }
}

const FAILING = /BackOff|Error|Failed|Invalid|OOMKilled|Evicted/;
const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

const pathOf = (kind: Pick<Kind, "group" | "storageVersion" | "plural">, namespace: string | undefined): string =>
  resourcePath({ cluster: HUB, group: kind.group, version: kind.storageVersion, resource: kind.plural, namespace });

function imagesOf(spec: JsonObject): string[] {
  return objectsAt(objectAt(objectAt(spec, "template"), "spec"), "containers")
    .map((container) => textAt(container, "image"))
    .filter((image) => image !== "");
}

function partitionOf(spec: JsonObject): string {
  const strategy = objectAt(spec, "updateStrategy");
  const value = strategy["partition"] ?? objectAt(strategy, "rollingUpdate")["partition"];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The images of the template's newest version: a pod with others is of an earlier one. */
const revisionOf = (template: JsonObject | undefined): readonly string[] => imagesOf(objectAt(template, "spec"));

function podRow(pod: JsonObject, newest: readonly string[]): PodRow {
  const typed = pod as unknown as DeepReadonly<Pod>;
  const { metadata, spec, status } = typed;
  const images = spec.containers.map(({ image }) => image ?? "");
  return {
    name: metadata.name,
    phase: status?.phase ?? "",
    state: metadata.deletionTimestamp ? "Terminating" : podStatus(typed),
    ready: isConditionTrue(status?.conditions ?? [], "Ready"),
    restarts: (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0),
    image: images[0] ?? "",
    node: spec.nodeName ?? "",
    containers: spec.containers.map(({ name }) => name),
    created: metadata.creationTimestamp ?? "",
    updated: newest.length > 0 && newest.every((image) => images.includes(image)),
  };
}

/** Without managed fields, which are long and not shown. */
function slimTemplate(template: JsonObject): JsonObject {
  const { managedFields: _managed, ...metadata } = objectAt(template, "metadata");
  return { ...template, metadata };
}

function policyOf(binding: DeepReadonly<ResourceBinding> | undefined): string {
  const annotations = binding?.metadata.annotations ?? {};
  const name = annotations[POLICY_NAME];
  if (name !== undefined) return `${annotations[POLICY_NAMESPACE] ?? ""}/${name}`;
  return annotations[CLUSTER_POLICY_NAME] ?? "";
}

function workSelector(binding: DeepReadonly<ResourceBinding> | undefined): string {
  const labels = binding?.metadata.labels ?? {};
  const id = labels[BINDING_ID];
  if (id !== undefined) return `resourcebinding.karmada.io/permanent-id=${id}`;
  const other = labels[CLUSTER_BINDING_ID];
  return other === undefined ? "flotilla.dev/none" : `clusterresourcebinding.karmada.io/permanent-id=${other}`;
}
